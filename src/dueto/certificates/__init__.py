"""Certificates: what was proved of a rule as plain data, and a check of it that shares nothing with the proof."""

from dueto.certificates.checks import Check, Verification
from dueto.certificates.verification import verify
from dueto.certificates.written import Certificate, certify

__all__ = ["Certificate", "Check", "Verification", "certify", "verify"]
