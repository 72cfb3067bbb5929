"""Packages and programs of the system, and the files that set them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .ground import Ground, Life, need, need_apt, need_library, need_root, run

_CONTROL = "Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: x <x@y>\nDescription: a test\n"


def make_apt(ground: Ground) -> Life:
    need_apt()
    ground.lock_packages()
    name = f"zt{os.getpid()}"
    folder = Path(tempfile.mkdtemp(prefix="zt"))  # apt reads as a user of its own
    ground.later.callback(shutil.rmtree, folder)
    folder.chmod(0o755)
    index = ""
    for version in ("1.0", "1.1"):
        control, file = _CONTROL % (name, version), f"{name}_{version}.deb"
        (folder / version / "DEBIAN").mkdir(parents=True)
        (folder / version / "DEBIAN" / "control").write_text(control)
        run("dpkg-deb", "--build", str(folder / version), str(folder / file))
        content = (folder / file).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        index += f"{control}Filename: ./{file}\nSize: {len(content)}\nSHA256: {digest}\n\n"
    (folder / "Packages").write_text(index)
    source = Path(f"/etc/apt/sources.list.d/{name}.list")
    source.write_text(f"deb [trusted=yes] file:{folder} ./\n")
    ground.later.callback(run, "apt-get", "purge", "-q", "-y", name)
    ground.later.callback(source.unlink)
    only = ["-o", f"Dir::Etc::sourcelist={source}", "-o", "Dir::Etc::sourceparts=-"]
    run("apt-get", "update", "-q", *only, "-o", "APT::Get::List-Cleanup=0")

    return Life(
        "ansible.builtin.apt",
        {"name": name},
        {},
        lambda: run("dpkg-query", "-W", "-f", "${Status} ${Version}", name).endswith("1.1"),
        lambda: run("apt-get", "remove", "-q", "-y", name),
    )


def make_apt_repository(ground: Ground) -> Life:
    need_apt()
    ground.lock_packages()
    name = f"zr{os.getpid()}"
    file = Path(f"/etc/apt/sources.list.d/{name}.list")
    ground.later.callback(file.unlink, missing_ok=True)
    repository = f"deb [trusted=yes] file:{ground.folder} ./"
    return Life(
        "ansible.builtin.apt_repository",
        {"repo": repository, "filename": name, "update_cache": False},
        {},
        file.exists,
        file.unlink,
    )


def make_known_hosts(ground: Ground) -> Life:
    need("ssh-keygen", "openssh-client")
    path = ground.write("known", "")
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(ground.folder / "key"))
    key = " ".join((ground.folder / "key.pub").read_text().split()[:2])
    return Life(
        "ansible.builtin.known_hosts",
        {"name": "host.test", "key": f"host.test {key}", "path": str(path)},
        {},
        lambda: "host.test" in path.read_text(),
        lambda: path.write_text(""),
    )


def make_assemble(ground: Ground) -> Life:
    path, parts = ground.folder / "made", ground.folder / "parts"
    parts.mkdir()
    (parts / "1").write_text("one\n")
    (parts / "2").write_text("two\n")
    return Life(
        "ansible.builtin.assemble",
        {"src": str(parts), "dest": str(path), "remote_src": True, "mode": "0644"},
        {"delimiter": "--"},
        path.is_file,
        lambda: path.write_text("three\n"),
    )


def make_supervisor(ground: Ground) -> Life:
    need_library("supervisor")
    folder = ground.folder
    socket = f"/tmp/zt{os.getpid()}.sock"  # a path of a Unix socket is short
    config = ground.write(
        "supervisor.conf",
        f"[supervisord]\nnodaemon=true\nlogfile={folder}/log\npidfile={folder}/pid\n"
        f"[unix_http_server]\nfile={socket}\n[supervisorctl]\nserverurl=unix://{socket}\n"
        "[rpcinterface:supervisor]\nsupervisor.rpcinterface_factory = "
        "supervisor.rpcinterface:make_main_rpcinterface\n"
        "[program:one]\ncommand=/bin/sleep 600\nautostart=false\nstartsecs=0\n",
    )
    server = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "supervisor.supervisord", "-c", str(config)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    ground.later.callback(server.wait)
    ground.later.callback(server.terminate)
    control = ground.write(
        "supervisorctl",
        f'#!/bin/sh\nexec {sys.executable} -W ignore -m supervisor.supervisorctl "$@"\n',
    )
    control.chmod(0o755)

    def ask(*words: str) -> str:
        return run(str(control), "-c", str(config), *words)

    while "one" not in ask("status"):
        assert server.poll() is None, "supervisord has ended"
    return Life(
        "community.general.supervisorctl",
        {
            "name": "one",
            "state": "started",
            "config": str(config),
            "supervisorctl_path": str(control),
        },
        {},
        lambda: "RUNNING" in ask("status"),
        lambda: ask("stop", "one"),
    )


def make_authorized_key(ground: Ground) -> Life:
    need("ssh-keygen", "openssh-client")
    path = ground.folder / "authorized"
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(ground.folder / "key"))
    key = (ground.folder / "key.pub").read_text().strip()
    return Life(
        "ansible.posix.authorized_key",
        {"user": "root", "key": key, "path": str(path), "manage_dir": False},
        {"key_options": "no-pty"},
        lambda: path.exists() and key.split()[1] in path.read_text(),
        lambda: path.write_text(""),
    )


def make_sysctl(ground: Ground) -> Life:
    need("sysctl", "procps")
    path = ground.write("sysctl.conf", "")
    return Life(
        "ansible.posix.sysctl",
        {"name": "vm.swappiness", "value": "7", "sysctl_file": str(path), "reload": False},
        {"value": "8"},
        lambda: "vm.swappiness" in path.read_text(),
        lambda: path.write_text("vm.swappiness=9\n"),
    )


def make_mount(ground: Ground) -> Life:
    path = ground.write("fstab", "")
    where = {"path": str(ground.folder / "point"), "src": "tmpfs", "fstype": "tmpfs"}
    return Life(
        "ansible.posix.mount",
        {**where, "state": "present", "fstab": str(path)},
        {"opts": "size=1m"},
        lambda: "tmpfs" in path.read_text(),
        lambda: path.write_text(""),
    )


def make_acl(ground: Ground) -> Life:
    need("setfacl", "acl")
    path = ground.write("file", "")
    return Life(
        "ansible.posix.acl",
        {
            "path": str(path),
            "entity": "nobody",
            "etype": "user",
            "permissions": "r",
            "state": "present",
        },
        {"permissions": "rw"},
        lambda: "user:nobody" in run("getfacl", str(path)),
        lambda: run("setfacl", "-x", "u:nobody", str(path)),
    )


def make_ini(ground: Ground) -> Life:
    path = ground.write("a.ini", "[one]\na = 1\n")
    return Life(
        "community.general.ini_file",
        {"path": str(path), "section": "two", "option": "b", "value": "2"},
        {"value": "3"},
        lambda: "b =" in path.read_text(),
        lambda: path.write_text("[one]\na = 1\n[two]\nb = 9\n"),
    )


def make_cronvar(ground: Ground) -> Life:
    need("crontab", "cron")
    user = ground.make_account()
    return Life(
        "community.general.cronvar",
        {"name": "ZT", "user": user, "value": "one"},
        {"value": "two"},
        lambda: "ZT" in run("crontab", "-u", user, "-l"),
    )


def make_git_config(ground: Ground) -> Life:
    need("git", "git")
    path = ground.write("config", "")
    return Life(
        "community.general.git_config",
        {"name": "alias.zt", "value": "status", "scope": "file", "file": str(path)},
        {"value": "log"},
        lambda: "zt" in path.read_text(),
        lambda: path.write_text("[alias]\n\tzt = diff\n"),
    )


def make_sudoers(ground: Ground) -> Life:
    path = ground.folder / "zt"
    return Life(
        "community.general.sudoers",
        {
            "name": "zt",
            "user": "nobody",
            "commands": "/bin/true",
            "sudoers_path": str(ground.folder),
            "validation": "absent",
        },
        {"nopassword": False},
        path.exists,
        path.unlink,
    )


def make_archive(ground: Ground) -> Life:
    source, path = ground.write("source", "one\n"), ground.folder / "made.tgz"
    return Life(
        "community.general.archive",
        {"path": str(source), "dest": str(path), "mode": "0644"},
        {"mode": "0600"},
        path.exists,
        path.unlink,
    )


def make_htpasswd(ground: Ground) -> Life:
    need_library("passlib")
    path = ground.folder / "htpasswd"
    return Life(
        "community.general.htpasswd",
        {"path": str(path), "name": "zt", "password": "one-secret", "hash_scheme": "apr_md5_crypt"},
        {"password": "another-secret"},
        lambda: path.exists() and "zt:" in path.read_text(),
        lambda: path.write_text(""),
    )


def make_interfaces(ground: Ground) -> Life:
    text = "auto eth0\niface eth0 inet manual\n"
    path = ground.write("interfaces", text)
    return Life(
        "community.general.interfaces_file",
        {"dest": str(path), "iface": "eth0", "option": "mtu", "value": "1400"},
        {"value": "1300"},
        lambda: "mtu" in path.read_text(),
        lambda: path.write_text(text),
    )


def make_xml(ground: Ground) -> Life:
    need_library("lxml")
    path = ground.write("a.xml", "<a><c>1</c></a>")
    return Life(
        "community.general.xml",
        {"path": str(path), "xpath": "/a/b", "value": "one"},
        {"value": "two"},
        lambda: "<b>" in path.read_text(),
        lambda: path.write_text("<a><c>1</c><b>nine</b></a>"),
    )


def make_divert(ground: Ground) -> Life:
    need("dpkg-divert", "dpkg")
    ground.lock_packages()
    path = ground.folder / "file"
    ground.later.callback(run, "dpkg-divert", "--remove", str(path))
    return Life(
        "community.general.dpkg_divert",
        {"path": str(path), "divert": str(ground.folder / "moved")},
        {"holder": "zt"},
        lambda: str(path) in run("dpkg-divert", "--list", str(path)),
        lambda: run("dpkg-divert", "--remove", str(path)),
    )


def make_alternatives(ground: Ground) -> Life:
    need("update-alternatives", "dpkg")
    ground.lock_packages()
    name, link = f"zt{os.getpid()}", ground.folder / "link"
    ground.later.callback(run, "update-alternatives", "--remove-all", name)
    return Life(
        "community.general.alternatives",
        {"name": name, "link": str(link), "path": "/bin/true", "priority": 10, "state": "present"},
        {"priority": 20},
        lambda: "/bin/true" in run("update-alternatives", "--query", name),
        lambda: run("update-alternatives", "--remove-all", name),
    )


def make_capabilities(ground: Ground) -> Life:
    need_root()
    need("setcap", "libcap2-bin")
    path = ground.write("program", "x")
    return Life(
        "community.general.capabilities",
        {"path": str(path), "capability": "cap_net_raw=ep", "state": "present"},
        {},
        lambda: "cap_net_raw" in run("getcap", str(path)),
        lambda: run("setcap", "-r", str(path)),
    )


def make_filesize(ground: Ground) -> Life:
    path = ground.folder / "made"
    return Life(
        "community.general.filesize",
        {"path": str(path), "size": "1k"},
        {"size": "2k"},
        path.exists,
        lambda: path.write_text("x"),
    )


def make_blacklist(ground: Ground) -> Life:
    path = ground.write("blacklist.conf", "")
    return Life(
        "community.general.kernel_blacklist",
        {"name": "zt", "blacklist_file": str(path)},
        {},
        lambda: "blacklist zt" in path.read_text(),
        lambda: path.write_text(""),
    )


def make_crypttab(ground: Ground) -> Life:
    path = ground.write("crypttab", "")
    return Life(
        "community.general.crypttab",
        {"name": "zt", "state": "present", "backing_device": "/dev/none", "path": str(path)},
        {"opts": "noauto"},
        lambda: "zt" in path.read_text(),
        lambda: path.write_text(""),
    )


def make_xattr(ground: Ground) -> Life:
    need("setfattr", "attr")
    path = ground.write("file", "")
    return Life(
        "community.general.xattr",
        {"path": str(path), "key": "user.zt", "value": "one", "state": "present"},
        {"value": "two"},
        lambda: "user.zt" in run("getfattr", str(path)),
        lambda: run("setfattr", "-x", "user.zt", str(path)),
    )
