"""The entries of a section of kind ``ansible``."""

from __future__ import annotations

from zonda.hooks.settings import POSITIVE, Schema, SettingsSchema

ANSIBLE = SettingsSchema(
    "an ansible runner",
    {
        "folder": Schema(Schema.STRING, "the folder of the playbooks and of roles/", required=True),
        "inventory": Schema(
            Schema.STRING,
            "An inventory: a file, a folder or host names with a comma; then templates bring none",
        ),
        "variables": Schema(
            Schema.MAP, "Variables of all runs; the values count as secrets", hidden=True
        ),
        "vault_password": Schema(
            Schema.STRING, "The password of encrypted files and values", hidden=True
        ),
        "parallel": Schema(
            Schema.INTEGER, "Runs at a time; further ones wait", 4, constraints=[POSITIVE]
        ),
        "state_folder": Schema(
            Schema.STRING, "The folder of the runs; else zonda-ansible in XDG_STATE_HOME"
        ),
    },
)
