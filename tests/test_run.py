"""Runs: limits, reports, interrupts and branches of one computation."""

import math
import signal

import pytest

from mercer.run import Report, Run, Target


def test_a_run_without_limits_goes_on():
    run = Run()
    assert run.stop(10**9) is None
    assert run.seconds_left == math.inf
    assert run.native() == (0.0, None)
    run.check()


@pytest.mark.parametrize(
    ("run", "status"),
    [
        (Run(max_iter=3), "iteration_limit"),
        (Run(time_limit=0.0), "time_limit"),
        (Run(target=Target(violation=0.1)), "optimal"),
        (Run(target=Target(gap=0.3)), "optimal"),
        (Run(target=Target(violation=0.1, gap=0.1)), None),
        (Run(listeners=[lambda report: report.iteration == 3]), "interrupted"),
        (Run(max_iter=-1), None),
    ],
)
def test_why_a_run_stops(run, status):
    assert run.stop(3, violation=0.05, gap=0.2) == status
    assert run.status == status


def test_an_unknown_violation_meets_no_target():
    assert Run(target=Target(violation=0.1)).stop(1) is None


def test_a_target_that_is_met_counts_more_than_the_last_step():
    assert Run(max_iter=3, target=Target(violation=0.1)).stop(3, violation=0.05) == "optimal"


def test_all_listeners_hear_a_report_and_one_of_them_stops_the_run():
    heard = []
    run = Run(listeners=[lambda report: True, heard.append])
    assert run.stop(2, 0.5, active=7) == "interrupted"
    assert heard[0][:2] == (2, 0.5)
    assert heard[0].active == 7
    run.raise_interrupt()  # only Ctrl-C is raised
    assert run.interrupted
    assert not run.by_keyboard


def test_ctrl_c_in_a_listener_is_that_of_the_run():
    run = Run(listeners=[lambda report: signal.raise_signal(signal.SIGINT)])
    assert run.branch().stop(1) == "interrupted"
    assert run.by_keyboard
    asked = Run(listeners=[lambda report: signal.raise_signal(signal.SIGINT)]).native()[1]
    assert asked(1)


def test_until_stopped_ends_a_block_at_ctrl_c_and_keeps_what_there_is():
    run, found = Run(), []
    with run.until_stopped():
        found.append(1)
        signal.raise_signal(signal.SIGINT)
        found.append(2)
    assert found == [1]
    assert run.status == "interrupted"
    assert run.branch().stop(1) == "interrupted"
    with pytest.raises(KeyboardInterrupt):
        run.raise_interrupt()


def test_check_ends_a_block_when_the_time_is_up():
    run, found = Run(time_limit=0.0), []
    with run.until_stopped():
        run.check()
        found.append(1)
    assert found == []
    assert run.status == "time_limit"


def test_other_errors_leave_the_block():
    with pytest.raises(ZeroDivisionError), Run().until_stopped():
        1 / 0  # noqa: B018


def test_keep_runs_an_action_to_its_end():
    run, calls = Run(), []

    def action():
        calls.append(1)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
        calls.append(2)

    assert run.keep(action)
    assert calls == [1, 1, 2]
    assert run.by_keyboard
    assert not Run().keep(lambda: None)


@pytest.mark.parametrize("limit", [-1.0, math.nan])
def test_a_time_limit_that_is_no_duration_is_refused(limit):
    with pytest.raises(ValueError, match="time_limit must be a number >= 0"):
        Run(time_limit=limit)


def test_branches_count_on_and_share_limits():
    heard = []
    run = Run(time_limit=100.0, max_iter=10, listeners=[heard.append])
    part = run.branch(after=4, share=0.5, steps=20)
    assert part.max_iter == 6
    assert part.stop(3) is None
    assert heard == [Report(7)]
    assert part.seconds_left < 50.1 < run.seconds_left
    assert part.stop(6) == "iteration_limit"
    assert run.status is None
    assert run.branch(steps=2).max_iter == 2
    assert Run().branch(steps=5).max_iter == 5


def test_native_solvers_get_what_is_left():
    seconds, callback = Run(time_limit=0.0, listeners=[lambda report: True]).native()
    assert seconds > 0.0  # 0 stands for no limit
    assert callback(5, 0.1, 2.0, 0.3, 4, 1, 1)


def test_native_interrupts_are_told_from_requests_of_listeners():
    run = Run()
    run.note("time_limit")
    assert not run.by_keyboard
    run.note("interrupted")
    assert run.by_keyboard
    asked = Run(listeners=[lambda report: True])
    asked.stop(1)
    asked.note("interrupted")
    assert not asked.by_keyboard
