"""What ISO 14229-1 (UDS) and SAE J1979 (OBD) call services, sub-functions and codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = [
    "CONTROL_PARAMETERS",
    "DATA_IDENTIFIERS",
    "NEGATIVE_CODES",
    "OBD_SERVICES",
    "PENDING",
    "SERVICES",
    "SUB_FUNCTIONS",
    "is_request_service",
    "repeated",
    "repeats",
    "service_name",
]

SERVICES: Final[Mapping[int, str]] = {
    0x10: "DiagnosticSessionControl",
    0x11: "ECUReset",
    0x14: "ClearDiagnosticInformation",
    0x19: "ReadDTCInformation",
    0x22: "ReadDataByIdentifier",
    0x23: "ReadMemoryByAddress",
    0x24: "ReadScalingDataByIdentifier",
    0x27: "SecurityAccess",
    0x28: "CommunicationControl",
    0x29: "Authentication",
    0x2A: "ReadDataByPeriodicIdentifier",
    0x2C: "DynamicallyDefineDataIdentifier",
    0x2E: "WriteDataByIdentifier",
    0x2F: "InputOutputControlByIdentifier",
    0x31: "RoutineControl",
    0x34: "RequestDownload",
    0x35: "RequestUpload",
    0x36: "TransferData",
    0x37: "RequestTransferExit",
    0x38: "RequestFileTransfer",
    0x3D: "WriteMemoryByAddress",
    0x3E: "TesterPresent",
    0x83: "AccessTimingParameter",
    0x84: "SecuredDataTransmission",
    0x85: "ControlDTCSetting",
    0x86: "ResponseOnEvent",
    0x87: "LinkControl",
}

OBD_SERVICES: Final[Mapping[int, str]] = {
    0x01: "ShowCurrentData",
    0x02: "ShowFreezeFrameData",
    0x03: "ShowStoredDTCs",
    0x04: "ClearDTCs",
    0x05: "OxygenSensorMonitoring",
    0x06: "OnBoardMonitoring",
    0x07: "ShowPendingDTCs",
    0x08: "ControlOnBoardSystem",
    0x09: "RequestVehicleInformation",
    0x0A: "ShowPermanentDTCs",
}

#: The services whose first parameter is a sub-function, and what its values are called.
SUB_FUNCTIONS: Final[Mapping[int, Mapping[int, str]]] = {
    0x10: {1: "default", 2: "programming", 3: "extended", 4: "safetySystem"},
    0x11: {
        1: "hardReset",
        2: "keyOffOnReset",
        3: "softReset",
        4: "enableRapidPowerShutDown",
        5: "disableRapidPowerShutDown",
    },
    0x19: {
        0x01: "reportNumberOfDTCByStatusMask",
        0x02: "reportDTCByStatusMask",
        0x03: "reportDTCSnapshotIdentification",
        0x04: "reportDTCSnapshotRecordByDTCNumber",
        0x05: "reportDTCStoredDataByRecordNumber",
        0x06: "reportDTCExtDataRecordByDTCNumber",
        0x07: "reportNumberOfDTCBySeverityMaskRecord",
        0x08: "reportDTCBySeverityMaskRecord",
        0x09: "reportSeverityInformationOfDTC",
        0x0A: "reportSupportedDTC",
        0x0B: "reportFirstTestFailedDTC",
        0x0C: "reportFirstConfirmedDTC",
        0x0D: "reportMostRecentTestFailedDTC",
        0x0E: "reportMostRecentConfirmedDTC",
        0x14: "reportDTCFaultDetectionCounter",
        0x15: "reportDTCWithPermanentStatus",
        0x16: "reportDTCExtDataRecordByRecordNumber",
        0x17: "reportUserDefMemoryDTCByStatusMask",
        0x18: "reportUserDefMemoryDTCSnapshotRecordByDTCNumber",
        0x19: "reportUserDefMemoryDTCExtDataRecordByDTCNumber",
        0x42: "reportWWHOBDDTCByMaskRecord",
        0x55: "reportWWHOBDDTCWithPermanentStatus",
        0x56: "reportDTCInformationByDTCReadinessGroupIdentifier",
    },
    0x27: {},  # odd: requestSeed, even: sendKey
    0x28: {
        0: "enableRxAndTx",
        1: "enableRxAndDisableTx",
        2: "disableRxAndEnableTx",
        3: "disableRxAndTx",
        4: "enableRxAndDisableTxWithEnhancedAddressInformation",
        5: "enableRxAndTxWithEnhancedAddressInformation",
    },
    0x29: {
        0: "deAuthenticate",
        1: "verifyCertificateUnidirectional",
        2: "verifyCertificateBidirectional",
        3: "proofOfOwnership",
        4: "transmitCertificate",
        5: "requestChallengeForAuthentication",
        6: "verifyProofOfOwnershipUnidirectional",
        7: "verifyProofOfOwnershipBidirectional",
        8: "authenticationConfiguration",
    },
    0x2C: {1: "defineByIdentifier", 2: "defineByMemoryAddress", 3: "clear"},
    0x31: {1: "startRoutine", 2: "stopRoutine", 3: "requestRoutineResults"},
    0x3E: {0: "zeroSubFunction"},
    0x83: {
        1: "readExtendedTimingParameterSet",
        2: "setTimingParametersToDefaultValues",
        3: "readCurrentlyActiveTimingParameters",
        4: "setTimingParametersToGivenValues",
    },
    0x85: {1: "on", 2: "off"},
    0x86: {
        0: "stopResponseOnEvent",
        1: "onDTCStatusChange",
        2: "onTimerInterrupt",
        3: "onChangeOfDataIdentifier",
        4: "reportActivatedEvents",
        5: "startResponseOnEvent",
        6: "clearResponseOnEvent",
        7: "onComparisonOfValues",
    },
    0x87: {
        1: "verifyModeTransitionWithFixedParameter",
        2: "verifyModeTransitionWithSpecificParameter",
        3: "transitionMode",
    },
}

#: What ISO 14229-1, annex C, names.
DATA_IDENTIFIERS: Final[Mapping[int, str]] = {
    0xF180: "bootSoftwareIdentification",
    0xF181: "applicationSoftwareIdentification",
    0xF182: "applicationDataIdentification",
    0xF183: "bootSoftwareFingerprint",
    0xF184: "applicationSoftwareFingerprint",
    0xF185: "applicationDataFingerprint",
    0xF186: "activeDiagnosticSession",
    0xF187: "vehicleManufacturerSparePartNumber",
    0xF188: "vehicleManufacturerECUSoftwareNumber",
    0xF189: "vehicleManufacturerECUSoftwareVersionNumber",
    0xF18A: "systemSupplierIdentifier",
    0xF18B: "ECUManufacturingDate",
    0xF18C: "ECUSerialNumber",
    0xF18D: "supportedFunctionalUnits",
    0xF18E: "vehicleManufacturerKitAssemblyPartNumber",
    0xF190: "VIN",
    0xF191: "vehicleManufacturerECUHardwareNumber",
    0xF192: "systemSupplierECUHardwareNumber",
    0xF193: "systemSupplierECUHardwareVersionNumber",
    0xF194: "systemSupplierECUSoftwareNumber",
    0xF195: "systemSupplierECUSoftwareVersionNumber",
    0xF196: "exhaustRegulationOrTypeApprovalNumber",
    0xF197: "systemNameOrEngineType",
    0xF198: "repairShopCodeOrTesterSerialNumber",
    0xF199: "programmingDate",
    0xF19A: "calibrationRepairShopCode",
    0xF19B: "calibrationDate",
    0xF19C: "calibrationEquipmentSoftwareNumber",
    0xF19D: "ECUInstallationDate",
    0xF19E: "ODXFile",
    0xF19F: "entity",
    0xFF00: "UDSVersion",
}

CONTROL_PARAMETERS: Final[Mapping[int, str]] = {
    0: "returnControlToECU",
    1: "resetToDefault",
    2: "freezeCurrentState",
    3: "shortTermAdjustment",
}

#: The code of a negative response that announces another response.
PENDING: Final = 0x78

NEGATIVE_CODES: Final[Mapping[int, str]] = {
    0x10: "generalReject",
    0x11: "serviceNotSupported",
    0x12: "subFunctionNotSupported",
    0x13: "incorrectMessageLengthOrInvalidFormat",
    0x14: "responseTooLong",
    0x21: "busyRepeatRequest",
    0x22: "conditionsNotCorrect",
    0x24: "requestSequenceError",
    0x25: "noResponseFromSubnetComponent",
    0x26: "failurePreventsExecutionOfRequestedAction",
    0x31: "requestOutOfRange",
    0x33: "securityAccessDenied",
    0x34: "authenticationRequired",
    0x35: "invalidKey",
    0x36: "exceedNumberOfAttempts",
    0x37: "requiredTimeDelayNotExpired",
    0x38: "secureDataTransmissionRequired",
    0x39: "secureDataTransmissionNotAllowed",
    0x3A: "secureDataVerificationFailed",
    0x50: "certificateVerificationFailedInvalidTimePeriod",
    0x51: "certificateVerificationFailedInvalidSignature",
    0x52: "certificateVerificationFailedInvalidChainOfTrust",
    0x53: "certificateVerificationFailedInvalidType",
    0x54: "certificateVerificationFailedInvalidFormat",
    0x55: "certificateVerificationFailedInvalidContent",
    0x56: "certificateVerificationFailedInvalidScope",
    0x57: "certificateVerificationFailedInvalidCertificate",
    0x58: "ownershipVerificationFailed",
    0x59: "challengeCalculationFailed",
    0x5A: "settingAccessRightsFailed",
    0x5B: "sessionKeyCreationOrDerivationFailed",
    0x5C: "configurationDataUsageFailed",
    0x5D: "deAuthenticationFailed",
    0x70: "uploadDownloadNotAccepted",
    0x71: "transferDataSuspended",
    0x72: "generalProgrammingFailure",
    0x73: "wrongBlockSequenceCounter",
    0x78: "responsePending",
    0x7E: "subFunctionNotSupportedInActiveSession",
    0x7F: "serviceNotSupportedInActiveSession",
    0x81: "rpmTooHigh",
    0x82: "rpmTooLow",
    0x83: "engineIsRunning",
    0x84: "engineIsNotRunning",
    0x85: "engineRunTimeTooLow",
    0x86: "temperatureTooHigh",
    0x87: "temperatureTooLow",
    0x88: "vehicleSpeedTooHigh",
    0x89: "vehicleSpeedTooLow",
    0x8A: "throttleOrPedalTooHigh",
    0x8B: "throttleOrPedalTooLow",
    0x8C: "transmissionRangeNotInNeutral",
    0x8D: "transmissionRangeNotInGear",
    0x8F: "brakeSwitchesNotClosed",
    0x90: "shifterLeverNotInPark",
    0x91: "torqueConverterClutchLocked",
    0x92: "voltageTooHigh",
    0x93: "voltageTooLow",
    0x94: "resourceTemporarilyNotAvailable",
}

_KNOWN: Final = frozenset(SERVICES) | frozenset(OBD_SERVICES)


def is_request_service(service: int) -> bool:
    return service in _KNOWN


def service_name(service: int) -> str:
    """The name of a service; one that no standard knows is called by its number."""
    return SERVICES.get(service) or OBD_SERVICES.get(service) or f"service 0x{service:02X}"


#: What an answer repeats from its request: so many bytes behind the service.
_REPEATED: Final[Mapping[int, int]] = {
    0x10: 1, 0x11: 1, 0x19: 1, 0x22: 2, 0x24: 2, 0x27: 1, 0x28: 1, 0x29: 1, 0x2C: 1, 0x2E: 2,
    0x2F: 2, 0x31: 3, 0x36: 1, 0x38: 1, 0x3E: 1, 0x83: 1, 0x85: 1, 0x86: 1, 0x87: 1,
    0x01: 1, 0x02: 2, 0x09: 1,
}  # fmt: skip


def repeated(service: int) -> int:
    """How many bytes behind the service a positive response repeats from its request."""
    return _REPEATED.get(service, 0)


def repeats(service: int, asked: bytes, answered: bytes) -> bool:
    """Whether a positive response with the parameters `answered` repeats what it has to of the
    parameters `asked`; of both, only the start need be there."""
    length = min(repeated(service), len(asked), len(answered))
    asked, answered = asked[:length], answered[:length]
    if asked and service in SUB_FUNCTIONS:
        # The bit that suppresses the response is not repeated.
        return asked[0] & 0x7F == answered[0] & 0x7F and asked[1:] == answered[1:]
    return asked == answered
