"""How much memory is left: the machine and every control group have a say."""
import pytest

from fuel.storage.sharing import available
from fuel.storage.sharing.available import available_memory, check_memory, readable_size

MiB = 1 << 20


def write_tree(root, files):
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    return str(root)


MEMINFO = {'proc/meminfo': 'MemTotal:  4096 kB\nMemFree: 1 kB\nMemAvailable:    2048 kB\n'
                           'SwapFree:  1024 kB\nHugePages_Total:  0\n\n'}


def test_memory_of_the_machine_includes_swap(tmp_path):
    assert available_memory(write_tree(tmp_path, MEMINFO)) == 3072 * 1024


def test_a_system_that_does_not_say(tmp_path):
    assert available_memory(str(tmp_path)) is None
    assert available_memory(write_tree(tmp_path, {'proc/meminfo': 'MemFree: 1 kB\n',
                                                  'proc/self/cgroup': 'nonsense\n'})) is None


def test_the_tightest_group_counts_and_its_cache_is_free(tmp_path):
    root = write_tree(tmp_path, {
        **MEMINFO, 'proc/self/cgroup': '0::/jobs/mine\n',
        'sys/fs/cgroup/jobs/memory.max': f'{2 * MiB}\n',
        'sys/fs/cgroup/jobs/memory.current': f'{MiB + 5000}\n',
        'sys/fs/cgroup/jobs/memory.stat':
            'anon 1\nactive_file 3000\ninactive_file 1000\nfile_mapped 7\n',
        'sys/fs/cgroup/jobs/mine/memory.max': 'max\n',
        'sys/fs/cgroup/jobs/mine/memory.current': '77\n'})
    assert available_memory(root) == MiB - 1000


def test_groups_of_the_first_version_and_the_paths_of_the_host(tmp_path):
    # In a container, the group is named as the host sees it but stands at the top.
    root = write_tree(tmp_path, {
        **MEMINFO, 'proc/self/cgroup': '5:cpu:/docker/ab\n4:memory,hugetlb:/docker/ab\n',
        'sys/fs/cgroup/memory/memory.limit_in_bytes': '100000',
        'sys/fs/cgroup/memory/memory.usage_in_bytes': '90000',
        'sys/fs/cgroup/memory/memory.stat':
            'inactive_file 9\ntotal_inactive_file 5000\ntotal_active_file 1000\n'})
    assert available_memory(root) == 16000


def test_a_group_over_its_limit_has_nothing_left(tmp_path):
    root = write_tree(tmp_path, {'proc/self/cgroup': '0::/\n',
                                 'sys/fs/cgroup/memory.max': '1000',
                                 'sys/fs/cgroup/memory.current': '2000'})
    assert available_memory(root) == 0


def test_here_it_is_a_plausible_number():
    assert available_memory() is None or MiB < available_memory() < 1 << 50


def test_check_says_how_much_is_needed_and_how_much_is_left(monkeypatch):
    monkeypatch.setattr(available, 'available_memory', lambda: 3 * MiB)
    check_memory(2 * MiB, 'this')
    with pytest.raises(MemoryError, match=r'this takes 3\.0 MiB \(3,145,728 bytes\) of memory; '
                                          r'there are 3\.0 MiB \(3,145,728 bytes\) left'):
        check_memory(3 * MiB, 'this')
    monkeypatch.setattr(available, 'available_memory', lambda: None)
    check_memory(1 << 60, 'this')


def test_sizes_in_words():
    assert [readable_size(size) for size in (0, 1023, 1024, 5 << 29)] == [
        '0 bytes', '1023 bytes', '1.0 KiB (1,024 bytes)', '2.5 GiB (2,684,354,560 bytes)']
