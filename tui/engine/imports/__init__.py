"""Imports of other programs' conversations: found, planned, and written to the archive.

``planning.make_plan(store, Wanted(…), report)`` finds the sources and gives a ``Plan``: for each
program a ``ProgramPlan`` with its title, its sources and sessions, how many are new, grown or gone,
and the bytes to read. ``Plan.only(programs)`` is the part that a user has chosen.

``running.run(store, plan, report)`` imports them and gives an ``Outcome``, with an
``ImportedProgram`` for each. Both block, and call ``report`` with a ``Progress`` between records,
some hundred times a second at most; they stop once it returns false. Whatever was imported until
then, or until the program is killed, stays, and the next run goes on from there.

Nothing here is imported before an import begins.
"""
