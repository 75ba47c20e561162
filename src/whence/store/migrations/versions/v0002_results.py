"""What other commands answer."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "results",
        sa.Column(
            "run",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            sa.ForeignKey("runs.id", name="fk_results_run"),
            nullable=False,
        ),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run", "number", name="pk_results"),
    )
