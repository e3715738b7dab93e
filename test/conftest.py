"""What holds for every test."""

from hypothesis import settings

# A time limit for each example would make tests fail on a busy machine.
settings.register_profile("mirage", deadline=None)
settings.load_profile("mirage")
