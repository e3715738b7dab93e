"""What holds for every test."""

from hypothesis import settings

# A time limit for each example would make tests fail on a busy machine.
# The same examples in every run; campaigns in `benchmarks` draw new ones.
settings.register_profile("mirage", deadline=None, derandomize=True)
settings.load_profile("mirage")
