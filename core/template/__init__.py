"""From text to a parsed tree with places: versions, sections, parameters, environment, conditions."""
