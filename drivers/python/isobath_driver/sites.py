"""What is known of each target in the current candidate, in lists that rewritten code and the probes look at.

`open_[t]`: the target is not covered. `done[t]`: nothing is left to say at the site whose first target is `t`. `quiet[t]`: the verdict
of which nothing more is to be said at that site, since it is covered and the distances to the other one brought nothing new; none
otherwise. `best[t]`: the smallest distance to the target. `tries[t]`: how many distances brought nothing new.

Before a core is there nothing is open and everything is done.
"""

open_ = []
done = []
quiet = []
best = []
tries = []

#: Whether the current candidate has inputs to track, as its only element.
tracking = [False]

NEVER = float("inf")
#: After so many distances that brought nothing new, a site computes none.
MOST_TRIES = 200
#: A look-up that succeeded so often without news is not looked at any more in this candidate.
MOST_LOOK_UPS = 60
#: A distance that is not known stays the same, and counts for so many.
UNKNOWN = 50
#: Texts that were compared before are likely to come again, as in a loop over rows; each time counts for so many.
REPEATED = 5


def reserve(count):
    """Makes room for so many targets."""
    missing = count - len(open_)
    open_.extend([False] * missing)
    done.extend([True] * missing)
    quiet.extend([None] * missing)
    best.extend([NEVER] * missing)
    tries.extend([0] * missing)


def fill(is_open):
    """All targets are open, or none is ever."""
    count = len(open_)
    open_[:] = [is_open] * count
    done[:] = [not is_open] * count
    quiet[:] = [None] * count
    best[:] = [NEVER] * count
    tries[:] = [0] * count


def forget(targets):
    """These targets, which were touched, are as new."""
    for target in targets:
        open_[target] = True
        done[target] = False
        quiet[target] = None
        best[target] = NEVER
        tries[target] = 0


def wants(target):
    """Whether the distance to a target is still of interest."""
    return open_[target] and tries[target] < MOST_TRIES
