"""Runs, what triage finds in logs, and classes."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

#: SQLite numbers rows by themselves only where the column is an INTEGER.
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text()
COUNT = sa.BigInteger()
TRUTH = sa.Boolean()


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("command", TEXT, nullable=False),
        sa.Column("started", TEXT, nullable=False),
        sa.Column("ended", TEXT),
        sa.Column("complete", TRUTH, nullable=False),
        sa.Column("verdict", TEXT, nullable=False),
        sa.Column("model", TEXT, nullable=False),
        sa.Column("model_name", TEXT, nullable=False),
        sa.Column("model_hash", TEXT, nullable=False),
        sa.Column("whence", TEXT, nullable=False),
        sa.Column("code", TEXT, nullable=False),
        sa.Column("options", TEXT, nullable=False),
        sa.Column("grouping", TEXT, nullable=False),
        sa.Column("planned", COUNT, nullable=False),
        sa.Column("head", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "findings",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("key", TEXT),
        sa.Column("content", TEXT, nullable=False),
        sa.Column("marks", TEXT, nullable=False),
        sa.Column("problems", TEXT, nullable=False),
        sa.Column("omitted", COUNT, nullable=False),
        sa.Column("absolute", TRUTH, nullable=False),
        sa.Column("defect", TRUTH, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_findings"),
        sa.UniqueConstraint("key", name="uq_findings_key"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "inputs",
        sa.Column("run", NUMBER, sa.ForeignKey("runs.id", name="fk_inputs_run"), nullable=False),
        sa.Column("number", COUNT, nullable=False),
        sa.Column("path", TEXT, nullable=False),
        sa.Column(
            "findings",
            NUMBER,
            sa.ForeignKey("findings.id", name="fk_inputs_findings"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("run", "number", name="pk_inputs"),
    )
    op.create_index("ix_inputs_findings", "inputs", ["findings"])
    op.create_table(
        "traces",
        sa.Column(
            "findings",
            NUMBER,
            sa.ForeignKey("findings.id", name="fk_traces_findings"),
            nullable=False,
        ),
        sa.Column("number", COUNT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("verdict", TEXT, nullable=False),
        sa.Column("line", COUNT, nullable=False),
        sa.Column("events", COUNT, nullable=False),
        sa.Column("faults", COUNT, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("hint", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("findings", "number", name="pk_traces"),
    )
    op.create_table(
        "faults",
        sa.Column("findings", NUMBER, nullable=False),
        sa.Column("ordinal", COUNT, nullable=False),
        sa.Column("trace", COUNT, nullable=False),
        sa.Column("number", COUNT, nullable=False),
        sa.Column("index", COUNT),
        sa.Column("position", COUNT),
        sa.Column("line", COUNT, nullable=False),
        sa.Column("next_line", COUNT, nullable=False),
        sa.Column("date", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("event", TEXT, nullable=False),
        sa.Column("after", TEXT, nullable=False),
        sa.Column("since", COUNT, nullable=False),
        sa.Column("expected", TEXT, nullable=False),
        sa.Column("others", COUNT, nullable=False),
        sa.Column("requirements", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("findings", "ordinal", name="pk_faults"),
        sa.ForeignKeyConstraint(
            ["findings", "trace"],
            ["traces.findings", "traces.number"],
            name="fk_faults_findings_trace",
        ),
    )
    op.create_table(
        "explanations",
        sa.Column("findings", NUMBER, nullable=False),
        sa.Column("fault", COUNT, nullable=False),
        sa.Column("number", COUNT, nullable=False),
        sa.Column("events", TEXT, nullable=False),
        sa.Column("similar", TEXT, nullable=False),
        sa.Column("by_events", TEXT, nullable=False),
        sa.Column("by_requirements", TEXT, nullable=False),
        sa.Column("complete", TRUTH, nullable=False),
        sa.Column("problems", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("findings", "fault", "number", name="pk_explanations"),
        sa.ForeignKeyConstraint(
            ["findings", "fault"],
            ["faults.findings", "faults.ordinal"],
            name="fk_explanations_findings_fault",
        ),
    )
    op.create_table(
        "cases",
        sa.Column(
            "findings",
            NUMBER,
            sa.ForeignKey("findings.id", name="fk_cases_findings"),
            nullable=False,
        ),
        sa.Column("similar", TEXT, nullable=False),
        sa.Column("record", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("findings", "similar", name="pk_cases"),
    )
    op.create_index("ix_cases_similar", "cases", ["similar"])
    op.create_table(
        "classes",
        sa.Column("id", NUMBER, autoincrement=True, nullable=False),
        sa.Column("grouping", TEXT, nullable=False),
        sa.Column("key", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("events", TEXT, nullable=False),
        sa.Column("constraints", TEXT, nullable=False),
        sa.Column("requirements", TEXT, nullable=False),
        sa.Column("expected", TEXT, nullable=False),
        sa.Column("observed", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_classes"),
        sa.UniqueConstraint("grouping", "key", name="uq_classes_grouping_key"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sightings",
        sa.Column("run", NUMBER, sa.ForeignKey("runs.id", name="fk_sightings_run"), nullable=False),
        sa.Column(
            "class", NUMBER, sa.ForeignKey("classes.id", name="fk_sightings_class"), nullable=False
        ),
        sa.Column("size", COUNT, nullable=False),
        sa.Column("input", COUNT, nullable=False),
        sa.Column("fault", COUNT, nullable=False),
        sa.PrimaryKeyConstraint("run", "class", name="pk_sightings"),
    )
    op.create_index("ix_sightings_class", "sightings", ["class"])
