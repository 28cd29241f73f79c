"""Runs mutmut so that its verdict is one of the tests and of nothing else.

Nothing in the package's folder stands for a module of mutmut's or pytest's. Options of pytest that distribute, repeat, order
or end a run are off, wherever they are set: mutmut counts the tests of this process, and an exit code of 1 as a kill.
"""

import os
import sys

if __name__ == "__main__":
    own = {os.path.realpath(folder) for folder in (os.getcwd(), os.path.dirname(os.path.abspath(__file__)))}
    sys.path[:] = [path for path in sys.path if os.path.realpath(path or ".") not in own]

import pytest  # noqa: E402

# Each attribute of pytest's options, where a plugin defines it, with the value that turns it off.
OFF = {
    # pytest-xdist, pytest-forked, pytest-parallel
    "numprocesses": None, "dist": "no", "tx": [], "looponfail": False, "forked": False, "workers": None,
    # pytest-cov: its threshold fails a run of some tests, in which then every mutant is "killed".
    "cov_source": [], "cov_fail_under": None,
    # pytest-timeout: the engine has time-outs of its own.
    "timeout": 0, "session_timeout": 1e9,
    # pytest-randomly, pytest-random-order
    "randomly_reorganize": False, "randomly_seed": 0, "random_order_enabled": False,
    "random_order_bucket": "default:module", "random_order_seed": "default:0",
    # What failed under one mutant says nothing about the next one.
    "lf": False, "failedfirst": False, "newfirst": False, "stepwise": False, "stepwise_skip": False,
    "stepwise_reset": False, "testmon": False,
    "usepdb": False, "trace": False,
}
# Plugins that mutmut blocks, so that their options would be unknown.
BLOCKED = {"no:randomly", "no:random-order"}
# What a run of pytest ends with that failed without a test that failed, or whose tests ran in other processes.
NO_TEST_FAILED, ELSEWHERE = 77, 78


class Neutral:
    """Turns options off, and counts which tests ran here and failed."""

    def __init__(self):
        self.reported = self.ran = self.failed = self.started = 0
        self.in_test = False

    def off(self, options):
        for name, value in OFF.items():
            if hasattr(options, name):
                setattr(options, name, value)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config):
        self.off(early_config.known_args_namespace)
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_main(self, config):
        self.off(config.option)
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config):
        self.off(config.option)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self):
        self.in_test = True
        yield
        self.in_test = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self):
        self.ran += 1

    def pytest_runtest_logreport(self, report):
        self.reported += report.when == "setup"
        self.failed += report.failed

    def pytest_collectreport(self, report):
        self.failed += report.failed

    def heard(self, event, _arguments):
        self.started += self.in_test and event in ("subprocess.Popen", "os.posix_spawn", "os.system", "os.fork")

    def end(self, code):
        if self.started:
            print("\nralph: tests started processes")
        if self.reported > self.ran:
            print("\nralph: tests ran in other processes")
            return ELSEWHERE
        if code == 1 and not self.failed:
            print("\nralph: the run failed, and no test did")
            return NO_TEST_FAILED
        return code


def neutral(main):
    """pytest.main without what spoils a verdict; tests may call it themselves."""
    runs = []

    def run(args=None, plugins=None):
        if runs or args is None:
            return main(args, plugins)
        args = list(args)
        for at in reversed(range(1, len(args))):
            if args[at - 1] == "-p" and args[at] in BLOCKED:
                del args[at - 1 : at + 1]
        own = Neutral()
        runs.append(own)
        try:
            return own.end(int(main(args, [*(plugins or []), own])))
        finally:
            runs.pop()

    sys.addaudithook(lambda event, arguments: [own.heard(event, arguments) for own in runs] and None)
    return run


def without_src(name):
    """The name of a module or function in the package `src`, as mutmut names its mutants."""
    return (name + ".").removeprefix("src.").rstrip(".") if name == "src" else name.removeprefix("src.")


def replace(old, new):
    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] == "mutmut"]:
        for name, value in list(vars(module).items()):
            if value is old:
                setattr(module, name, new)


def allow_src():
    """A package may be called `src`: mutmut takes each folder of that name for one that holds packages."""
    try:
        from mutmut.mutation import trampoline
        from mutmut.utils import format_utils

        record, wrap, mutant_name = (
            trampoline.record_trampoline_hit,
            trampoline.wrap_in_trampoline,
            format_utils.get_mutant_name,
        )
    except (ImportError, AttributeError):
        return  # Of an older version, which says that it does not take such names.

    def record_without_src(name, caller=None):
        record(without_src(name).lstrip("."), caller=caller and without_src(caller).lstrip("."))

    def wrap_without_src(*arguments, **named):
        def decorate(function):
            module, function.__module__ = function.__module__, without_src(function.__module__)
            wrapped = wrap(*arguments, **named)(function)
            wrapped.__module__ = module
            return wrapped

        return decorate

    replace(record, record_without_src)
    replace(wrap, wrap_without_src)
    replace(mutant_name, lambda *arguments: mutant_name(*arguments).removeprefix("__init__."))


if __name__ == "__main__":
    from mutmut.__main__ import cli

    allow_src()
    pytest.main = neutral(pytest.main)
    cli()
