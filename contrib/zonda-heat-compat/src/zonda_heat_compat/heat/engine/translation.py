"""Translation rules: zonda's own, which take the same arguments."""

from __future__ import annotations

from typing import Any

from zonda.hooks import TranslationRule as _Rule


class TranslationRule(_Rule):
    """One rule."""

    def __init__(
        self,
        properties: Any,
        rule: str,
        translation_path: Any = None,
        value: Any = None,
        value_name: str | None = None,
        value_path: Any = None,
        client_plugin: Any = None,
        finder: str | None = None,
        entity: str | None = None,
        custom_value_path: Any = None,
        source_path: Any = None,
    ) -> None:
        super().__init__(
            properties,
            rule,
            list(translation_path or source_path or ()),
            value,
            value_name,
            value_path,
            client_plugin,
            finder,
            entity,
            custom_value_path,
        )


class Translation:
    """Rules that a plug-in wants applied; ``Properties.update_translation`` applies them."""

    def __init__(self, properties: Any = None) -> None:
        self.properties = properties
        self.resolved_translations: dict[str, Any] = {}
        self.is_active = True
        self.store_translated_values = True
        self._rules: list[Any] = []

    def set_rules(
        self, rules: Any, client_resolve: bool = True, ignore_resolve_error: bool = False
    ) -> None:
        self._rules = list(rules or ())
        if self.properties is not None:
            self.properties.update_translation(self._rules)
