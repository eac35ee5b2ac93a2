"""The process manager: supervisord (PyPI `supervisor`) with a generated configuration, spoken to over its unix socket.

It starts processes again when they die, ends whole process groups and rotates logs. Every process carries the mark
FRONTPAGE_SYSTEM=<directory> in its environment, so that whatever outlives a killed supervisord is found and ended too.
Not here: which processes there are and when they count as ready (`frontpage_cli/system`).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import xmlrpc.client
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psutil

from frontpage.errors import ConfigurationError, ServiceUnavailable

MARK: Final = "FRONTPAGE_SYSTEM"
#: Real seconds a process has to end after SIGTERM before its group is killed.
STOP_WAIT: Final = 20
#: Unix socket paths are limited to 108 bytes (Linux).
_LONGEST_SOCKET: Final = 100
#: supervisord expands the percent sign, Valkey's configuration the quotes and the backslash, Kafka's the comma;
#: what follows a space and one of two characters is a comment to supervisord.
_COMMENTS: Final = (" ;", " #")
_UNUSABLE: Final = "%\"'\\,"


@dataclass(frozen=True, slots=True)
class Program:
    """One supervised process. `priority`: lower starts first and stops last."""

    name: str
    command: Sequence[str]
    priority: int = 999
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signal: str = "TERM"


@dataclass(frozen=True, slots=True)
class ProgramState:
    """`state` is supervisord's word (RUNNING, STOPPED, BACKOFF, FATAL, ...); times are real seconds since 1970."""

    name: str
    state: str
    pid: int | None
    since: float
    said: str


class Supervisor:
    """The supervisord of one `directory` (absolute), running or not."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()
        self.logs = self.directory / "logs"
        socket = self.directory / "supervisor.sock"
        if len(str(socket)) > _LONGEST_SOCKET:
            digest = hashlib.sha256(str(self.directory).encode()).hexdigest()[:16]
            socket = Path(tempfile.gettempdir()) / f"frontpage-{os.getuid()}-{digest}.sock"
        self.socket = socket

    @contextlib.contextmanager
    def alone(self, *, wait: bool = False) -> Iterator[None]:
        """One starter at a time: two would end each other's processes as strays. A killed one lets go by itself.

        Raises ServiceUnavailable while another has it, unless `wait`.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / "starting.lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                raise ServiceUnavailable(
                    f"another `frontpage up` is starting the system in {self.directory.parent}: wait for it"
                ) from None
            yield

    def running(self) -> bool:
        """Whether this directory's supervisord answers."""
        try:
            return bool(self._rpc().supervisor.getState()["statename"] in ("RUNNING", "RESTARTING"))
        except (OSError, xmlrpc.client.Error):
            return False

    def launch(self, programs: Sequence[Program]) -> None:
        """Start supervisord with these programs, none of them running yet.

        Raises ServiceUnavailable, and ConfigurationError for a directory that they cannot work in.
        """
        path = str(self.directory)
        foul = sorted({c for c in path if c in _UNUSABLE or not c.isprintable()} | {c for c in _COMMENTS if c in path})
        if foul:
            raise ConfigurationError(
                f"FRONTPAGE_VAR: {str(self.directory.parent)!r} has {' '.join(map(repr, foul))} in its name,"
                " which the embedded services cannot work with: choose another directory"
            )
        self.logs.mkdir(parents=True, exist_ok=True)
        config = self.directory / "supervisord.conf"
        config.write_text(self._config(programs), encoding="utf-8")
        config.chmod(0o600)
        self.socket.unlink(missing_ok=True)
        environment = {**os.environ, MARK: str(self.directory)}
        done = subprocess.run(
            [sys.executable, "-m", "supervisor.supervisord", "-c", str(config)],
            env=environment,
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode != 0:
            told = (done.stderr or done.stdout).strip()[-300:] or f"see {self.directory / 'supervisord.log'}"
            raise ServiceUnavailable(f"supervisord did not start: {told}")
        deadline = time.monotonic() + 30
        while not self.running():
            if time.monotonic() > deadline:
                raise ServiceUnavailable(f"supervisord does not answer, see {self.directory / 'supervisord.log'}")
            time.sleep(0.05)

    def start(self, name: str) -> None:
        """Start a program that does not run yet; does not wait for it to be ready."""
        try:
            self._rpc().supervisor.startProcess(name, False)
        except xmlrpc.client.Fault as fault:
            if "ALREADY_STARTED" not in fault.faultString:
                raise ServiceUnavailable(f"cannot start {name}: {fault.faultString}") from None
        except OSError as error:
            raise ServiceUnavailable(f"cannot start {name}: the process manager was stopped meanwhile") from error

    def stop(self, name: str) -> None:
        """Stop one program and wait until it ended."""
        try:
            self._rpc().supervisor.stopProcess(name, True)
        except xmlrpc.client.Fault as fault:
            if "NOT_RUNNING" not in fault.faultString:
                raise ServiceUnavailable(f"cannot stop {name}: {fault.faultString}") from None
        except OSError as error:
            raise ServiceUnavailable(f"cannot stop {name}: the process manager does not answer") from error

    def states(self) -> dict[str, ProgramState]:
        """State of each program; {} when supervisord does not run."""
        try:
            rows: Any = self._rpc().supervisor.getAllProcessInfo()
        except (OSError, xmlrpc.client.Error):
            return {}
        return {
            row["name"]: ProgramState(
                row["name"], row["statename"], row["pid"] or None, float(row["start"]), row["spawnerr"] or ""
            )
            for row in rows
        }

    def last_words(self, name: str, lines: int = 3) -> str:
        """The end of a program's log, on one line."""
        try:
            text = (self.logs / f"{name}.log").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return " | ".join(text.strip().splitlines()[-lines:])[-600:]

    def shutdown(self) -> None:
        """Stop everything, the last started first, and wait; ends what outlived its parent, too."""
        if self.running():
            with contextlib.suppress(OSError, xmlrpc.client.Error):
                self._rpc().supervisor.shutdown()
            deadline = time.monotonic() + 4 * STOP_WAIT
            while self.processes() and time.monotonic() < deadline:
                time.sleep(0.1)
        strays = self.processes()
        for sign in ("terminate", "kill"):
            for stray in strays:
                with contextlib.suppress(psutil.NoSuchProcess):
                    getattr(stray, sign)()
            _, strays = psutil.wait_procs(strays, timeout=10)
        self.socket.unlink(missing_ok=True)
        (self.directory / "supervisord.pid").unlink(missing_ok=True)

    def processes(self) -> list[psutil.Process]:
        """Every living process that carries our mark, whoever its parent is now."""
        return list(self._marked())

    def _marked(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == str(self.directory):
                    yield process

    def _rpc(self) -> Any:
        from supervisor.xmlrpc import SupervisorTransport

        transport = SupervisorTransport(None, None, f"unix://{self.socket}")
        return xmlrpc.client.ServerProxy("http://127.0.0.1", transport=transport)

    def _config(self, programs: Sequence[Program]) -> str:
        head = f"""\
[unix_http_server]
file={_escape(str(self.socket))}
chmod=0700

[supervisord]
logfile={_escape(str(self.directory / "supervisord.log"))}
logfile_maxbytes=2MB
logfile_backups=1
pidfile={_escape(str(self.directory / "supervisord.pid"))}
directory={_escape(str(self.directory))}
minfds=1024
silent=true

[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface

[supervisorctl]
serverurl=unix://{_escape(str(self.socket))}
"""
        return head + "".join(self._section(program) for program in programs)

    def _section(self, program: Program) -> str:
        quoted = " ".join(_quote(part) for part in program.command)
        environment = ",".join(f'{key}="{_escape(value)}"' for key, value in program.environment.items())
        return f"""
[program:{program.name}]
command={quoted}
priority={program.priority}
environment={environment}
autostart=false
autorestart=true
startsecs=1
startretries=1000
stopsignal={program.stop_signal}
stopwaitsecs={STOP_WAIT}
stopasgroup=true
killasgroup=true
redirect_stderr=true
stdout_logfile={_escape(str(self.logs / (program.name + ".log")))}
stdout_logfile_maxbytes=10MB
stdout_logfile_backups=2
"""


def _escape(text: str) -> str:
    """Percent signs start expressions in supervisord's configuration."""
    return text.replace("%", "%%").replace('"', '\\"')


def _quote(part: str) -> str:
    escaped = part.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
