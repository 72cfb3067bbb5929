"""Load and validate a template, as a create does before it touches anything."""

from measure import Cost, best, count, engine, independent, measured, report

from zonda.core.template.source.bundle import Bundle

number = count()
values = iter(("one", "two", "three"))
with engine() as app:

    def once() -> Cost:
        """One validation of a template that was not seen before."""
        bundle = Bundle(independent(number, next(values)))
        with measured() as cost:
            app.templates.validate(bundle)
        return cost

    report("validate", number, best(3, once), bar=0.15)
