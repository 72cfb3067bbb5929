"""Compares what zonda refuses of a module's options with what Ansible itself refuses::

    python contrib/zonda-ansible/tests/agreement.py [MODULES [SEED]]

Good and bad options are generated for a sample of the installed modules, by chance of the seed. The
variables of the environment from which a module may take an option are taken for set. The
last line is JSON: how often both accept, both refuse, and disagree, with the disagreements.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from zonda.hooks import ValidationErrors
from zonda.hooks.testing import Lifecycle

from zonda_ansible.index import Index, load_index
from zonda_ansible.interfaces import NoInterface, load_interface
from zonda_ansible.types import Module, make_type

Options = dict[str, Any]
#: Asks Ansible in a process of its own: a line of options in, a line of errors out.
JUDGE: Final = """
import json, runpy, sys
from ansible.module_utils import basic
from ansible.module_utils.common.arg_spec import ModuleArgumentSpecValidator
class Called(BaseException): pass
given = {}
def take_environment_for_set(options):
    for option in options.values():
        if option.get('fallback'):
            option['required'] = False
        take_environment_for_set(option.get('options') or {})
def stop(self, argument_spec, bypass_checks=False, no_log=False, mutually_exclusive=None,
         required_together=None, required_one_of=None, add_file_common_args=False,
         supports_check_mode=False, required_if=None, required_by=None):
    if add_file_common_args:
        argument_spec = {**basic.FILE_COMMON_ARGUMENTS, **argument_spec}
    take_environment_for_set(argument_spec)
    given['judge'] = ModuleArgumentSpecValidator(
        argument_spec, mutually_exclusive, required_together, required_one_of, required_if,
        required_by)
    raise Called
basic.AnsibleModule.__init__ = stop
basic._load_params = lambda: None
out, sys.stdout = sys.stdout, sys.stderr
name, sys.argv = sys.argv[1], sys.argv[1:]
try:
    runpy.run_module(name, run_name='__main__', alter_sys=True)
except Called:
    pass
for line in sys.stdin:
    try:
        found = list(given['judge'].validate(json.loads(line)).error_messages)
    except Exception as error:
        found = [f'{type(error).__name__}: {error}']
    print(json.dumps(found), file=out, flush=True)
"""
_GOOD: Final[Mapping[str, Any]] = {
    **{"str": "x", "path": "/nowhere/x", "raw": "x", "sid": "x", "pkcs11": "x", "any": "x"},
    **{"int": 3, "integer": 3, "float": 1.5, "bool": True, "boolean": True, "bytes": "1K"},
    **{"bits": "1Kb", "json": '{"a": 1}', "jsonarg": '{"a": 1}', "dict": {"a": "b"}},
}
_BAD: Final[Mapping[str, Any]] = {
    **{"int": "seven", "integer": "seven", "float": "much", "bool": "perhaps"},
    **{"boolean": "perhaps", "dict": "no map", "list": {"a": "b"}},
}


def make_good(option: Mapping[str, Any], chance: random.Random, depth: int = 0) -> Any:
    """A value that the option takes by its own."""
    kind = option["type"]
    choices = [each for each in option["choices"] if each is not None]
    if kind == "list":
        item = {**option, "type": option["elements"] or "str"}
        return [make_good(item, chance, depth)]
    if choices and kind not in ("dict", "bool", "boolean"):
        return chance.choice(choices)
    if kind == "dict" and option.get("options"):
        return make_options(option["options"], chance, 0.1 if depth < 2 else 0.0, depth + 1)
    return _GOOD.get(kind, "x")


def make_options(
    options: Mapping[str, Any], chance: random.Random, share: float, depth: int = 0
) -> Options:
    """Options: all that are required, and a share of the others."""
    return {
        name: make_good(option, chance, depth)
        for name, option in options.items()
        if option["required"] or chance.random() < share
    }


def generate(interface: Mapping[str, Any], chance: random.Random) -> Iterator[tuple[str, Options]]:
    """Options of a module, good or bad, each with what was meant."""
    options = interface["options"]
    yield "required", make_options(options, chance, 0.0)
    for share in (0.1, 0.3, 0.6):
        yield "some", make_options(options, chance, share)
    yield "unknown option", {**make_options(options, chance, 0.1), "zz_nothing": 1}
    for name, option in options.items():
        base = make_options(options, chance, 0.0)
        if option["required"]:
            yield "missing", {key: value for key, value in base.items() if key != name}
        if option["type"] in _BAD and not option["choices"]:
            yield "type", {**base, name: _BAD[option["type"]]}
        if option["choices"] and option["type"] == "str":
            yield "choice", {**base, name: "no such choice"}
        for alias in option["aliases"][:1]:
            base.pop(name, None)
            yield "alias", {**base, alias: make_good(option, chance)}
    for group in _list_relations(interface["relations"]):
        base = make_options(options, chance, 0.0)
        known = [name for name in group if name in options]
        for name in known:
            base[name] = make_good(options[name], chance)
        yield "related", base
        if known:
            base.pop(chance.choice(known))
            yield "related", base


def _list_relations(relations: Mapping[str, Any]) -> Iterator[list[str]]:
    for name in ("mutually_exclusive", "required_together", "required_one_of"):
        groups = relations.get(name) or []
        yield from ([groups] if groups and isinstance(groups[0], str) else groups)
    for rule in relations.get("required_if") or ():
        yield [rule[0], *rule[2]]
    for name, needed in (relations.get("required_by") or {}).items():
        yield [name, *([needed] if isinstance(needed, str) else needed or ())]


def ask_zonda(index: Index, module: str, options: Options) -> list[str]:
    """The faults that zonda finds."""
    name = f"Ansible::{module}"
    try:
        Lifecycle(make_type(index, name), options, type_name=name).validate()
    except ValidationErrors as error:
        return [str(each) for each in error.errors]
    return []


def ask_ansible(module: str, cases: list[Options]) -> list[list[str]] | None:
    """The faults that Ansible finds in each; None where the module cannot be imported here."""
    namespace, collection, rest = module.split(".", 2)
    is_core = (namespace, collection) == ("ansible", "builtin")
    place = f"ansible_collections.{namespace}.{collection}.plugins.modules"
    name = f"{'ansible.modules' if is_core else place}.{rest}"
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", JUDGE, name],
        input="".join(json.dumps(each) + "\n" for each in cases),
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    told = [json.loads(line) for line in found.stdout.splitlines()]
    return told if len(told) == len(cases) and not _has_failed(told) else None


def _has_failed(told: list[list[str]]) -> bool:
    return any("KeyError: 'judge'" in text for texts in told for text in texts)


def compare(modules: list[str], wanted: int, chance: random.Random) -> dict[str, Any]:
    """Compare on the first ``wanted`` modules that declare their options in code."""
    index, counts, differing = load_index(), Counter[str](), []
    used = 0
    for module in modules:
        try:
            interface = load_interface(index, module)
        except NoInterface:
            continue
        is_made = issubclass(make_type(index, f"Ansible::{module}"), Module)
        if interface["is_action"] or not index.modules[module].endswith(".py") or not is_made:
            continue
        cases = list(generate(interface, chance))
        theirs = ask_ansible(module, [options for _, options in cases])
        if theirs is None:
            continue
        used += 1
        for (kind, options), said in zip(cases, theirs, strict=True):
            ours = ask_zonda(index, module, options)
            verdict = "differ" if bool(ours) != bool(said) else "refused" if ours else "accepted"
            counts[verdict] += 1
            if verdict == "differ":
                differing.append([module, kind, options, ours[:1], said[:1]])
        if used == wanted:
            break
    return {"modules": used, **counts, "differing": differing}


def main(wanted: int = 200, seed: int = 1) -> int:
    """Compare, and print the result; 1 where there is a disagreement."""
    chance = random.Random(seed)
    modules = sorted(load_index().modules)
    chance.shuffle(modules)
    found = compare(modules, wanted, chance)
    print(json.dumps({"seed": seed, **found}, default=str))
    return 1 if found["differing"] else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
