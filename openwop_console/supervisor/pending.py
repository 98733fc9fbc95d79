"""Which migrations a database lacks."""


def pending_migrations() -> list[str]:
    """Return the names of the migrations to apply, in order. Django must be set up."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]
