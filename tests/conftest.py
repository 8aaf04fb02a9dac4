"""Settings that hold for every test: no configuration of the user's gets in."""
import os

import hypothesis
import pytest

# Before anything imports fuel: the settings of whoever runs the tests are theirs.
os.environ['FUEL_CONFIG'] = os.devnull
for name in [name for name in os.environ if name.startswith('FUEL_') and name not in (
        'FUEL_CONFIG', 'FUEL_KERNELS')]:
    del os.environ[name]

hypothesis.settings.register_profile('fuel', deadline=None, max_examples=50,
                                     suppress_health_check=[
                                         hypothesis.HealthCheck.function_scoped_fixture])
hypothesis.settings.load_profile('fuel')


@pytest.fixture(autouse=True)
def _settings_restored():
    """Take back what a test assigns to the configuration."""
    from fuel import config
    assigned = {key: entry['value'] for key, entry in config.config.items() if 'value' in entry}
    yield
    for key, entry in config.config.items():
        entry.pop('value', None)
        if key in assigned:
            entry['value'] = assigned[key]
