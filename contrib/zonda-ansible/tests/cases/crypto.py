"""Keys, requests and certificates of community.crypto."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .ground import Ground, Life, need, need_library


def make_key(ground: Ground, name: str) -> Path:
    """A private key of another case."""
    need("openssl", "openssl")
    path = ground.folder / name
    words = ["openssl", "genpkey", "-quiet", "-algorithm", "RSA", "-out", str(path)]
    subprocess.run([*words, "-pkeyopt", "rsa_keygen_bits:2048"], check=True)
    return path


def make_request(ground: Ground, name: str, key: Path) -> Path:
    """A request of another case."""
    path = ground.folder / name
    words = ["openssl", "req", "-new", "-key", str(key), "-subj", "/CN=zt", "-out", str(path)]
    subprocess.run(words, check=True)
    return path


def make_certificate_file(ground: Ground, name: str, key: Path) -> Path:
    """A certificate of another case."""
    path = ground.folder / name
    words = ["openssl", "req", "-x509", "-key", str(key), "-subj", "/CN=zt", "-out", str(path)]
    subprocess.run(words, check=True)
    return path


def make_private_key(ground: Ground) -> Life:
    need_library("cryptography")
    path = ground.folder / "key"
    return Life(
        "community.crypto.openssl_privatekey",
        {"path": str(path), "type": "ECC", "curve": "secp256r1"},
        {"curve": "secp384r1"},
        path.is_file,
        path.unlink,
    )


def make_csr(ground: Ground) -> Life:
    need_library("cryptography")
    key, path = make_key(ground, "key"), ground.folder / "csr"
    return Life(
        "community.crypto.openssl_csr",
        {"path": str(path), "privatekey_path": str(key), "common_name": "one.test"},
        {"common_name": "two.test"},
        path.is_file,
        path.unlink,
    )


def make_certificate(ground: Ground) -> Life:
    need_library("cryptography")
    key = make_key(ground, "key")
    path, request = ground.folder / "cert", make_request(ground, "csr", key)
    return Life(
        "community.crypto.x509_certificate",
        {
            "path": str(path),
            "privatekey_path": str(key),
            "csr_path": str(request),
            "provider": "selfsigned",
        },
        {"mode": "0600"},
        path.is_file,
        path.unlink,
    )


def make_public_key(ground: Ground) -> Life:
    need_library("cryptography")
    key, path = make_key(ground, "key"), ground.folder / "public"
    return Life(
        "community.crypto.openssl_publickey",
        {"path": str(path), "privatekey_path": str(key)},
        {"format": "OpenSSH"},
        path.is_file,
        path.unlink,
    )


def make_pkcs12(ground: Ground) -> Life:
    need_library("cryptography")
    key = make_key(ground, "key")
    path, certificate = ground.folder / "p12", make_certificate_file(ground, "cert", key)
    return Life(
        "community.crypto.openssl_pkcs12",
        {
            "path": str(path),
            "privatekey_path": str(key),
            "certificate_path": str(certificate),
            "friendly_name": "one",
        },
        {"friendly_name": "two"},
        path.is_file,
        path.unlink,
    )


def make_dhparam(ground: Ground) -> Life:
    need_library("cryptography")
    path = ground.folder / "dh"
    return Life(
        "community.crypto.openssl_dhparam",
        {"path": str(path), "size": 512, "mode": "0644"},
        {"mode": "0600"},
        path.is_file,
        path.unlink,
    )


def make_crl(ground: Ground) -> Life:
    need_library("cryptography")
    key, path = make_key(ground, "key"), ground.folder / "crl"
    return Life(
        "community.crypto.x509_crl",
        {
            "path": str(path),
            "privatekey_path": str(key),
            "issuer": {"CN": "one"},
            "last_update": "20260101000000Z",
            "next_update": "20360101000000Z",
            "revoked_certificates": [],
        },
        {"issuer": {"CN": "two"}},
        path.is_file,
        path.unlink,
    )


def make_keypair(ground: Ground) -> Life:
    need("ssh-keygen", "openssh-client")
    path = ground.folder / "id"
    return Life(
        "community.crypto.openssh_keypair",
        {"path": str(path), "type": "ed25519", "comment": "one"},
        {"comment": "two"},
        path.is_file,
        path.unlink,
    )


def make_ssh_certificate(ground: Ground) -> Life:
    need("ssh-keygen", "openssh-client")
    for name in ("ca", "id"):
        path = ground.folder / name
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
        subprocess.run(words, check=True)
    path = ground.folder / "cert.pub"
    return Life(
        "community.crypto.openssh_cert",
        {
            "path": str(path),
            "type": "user",
            "signing_key": str(ground.folder / "ca"),
            "public_key": str(ground.folder / "id.pub"),
            "valid_from": "2026-01-01",
            "valid_to": "2036-01-01",
            "identifier": "one",
        },
        {"identifier": "two", "regenerate": "full_idempotence"},
        path.is_file,
        path.unlink,
    )
