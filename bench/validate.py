"""Load and validate a template, as a create does before it touches anything."""

from measure import Cost, best, count, engine, independent, measured, report

from zonda.core.template.bundle import Bundle

number = count()
bundle = Bundle(independent(number))
with engine() as app:

    def once() -> Cost:
        """One validation."""
        with measured() as cost:
            app.validate(bundle)
        return cost

    report("validate", number, best(3, once), bar=0.15)
