"""Random passwords from classes of characters, each with a least number."""

from __future__ import annotations

import collections
import random
import string
from collections.abc import Sequence

CHARACTER_CLASSES = (
    LETTERS_DIGITS,
    LETTERS,
    LOWERCASE,
    UPPERCASE,
    DIGITS,
    HEXDIGITS,
    OCTDIGITS,
) = ("lettersdigits", "letters", "lowercase", "uppercase", "digits", "hexdigits", "octdigits")

CharClass = collections.namedtuple("CharClass", ("allowed_chars", "min_count"))

_CHARACTERS = {
    LETTERS_DIGITS: string.ascii_letters + string.digits,
    LETTERS: string.ascii_letters,
    LOWERCASE: string.ascii_lowercase,
    UPPERCASE: string.ascii_uppercase,
    DIGITS: string.digits,
    HEXDIGITS: string.digits + "ABCDEF",
    OCTDIGITS: string.octdigits,
}


def named_char_class(char_class: str, min_count: int = 0) -> CharClass:
    return CharClass(_CHARACTERS[char_class], min_count)


def special_char_class(allowed_chars: str, min_count: int = 0) -> CharClass:
    return CharClass(allowed_chars, min_count)


def generate_password(length: int, char_classes: Sequence[CharClass]) -> str:
    source = random.SystemRandom()
    text = [
        source.choice(each.allowed_chars) for each in char_classes for _ in range(each.min_count)
    ]
    if len(text) > length:
        raise ValueError(f"{length} characters are fewer than the classes ask for ({len(text)})")
    while len(text) < length:
        text.append(source.choice(source.choice(char_classes).allowed_chars))
    source.shuffle(text)
    return "".join(text)


def generate_openstack_password() -> str:
    wanted = [named_char_class(name, 1) for name in (LOWERCASE, UPPERCASE, DIGITS)]
    return generate_password(32, [*wanted, special_char_class("!#%^&*", 1)])
