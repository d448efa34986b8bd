import pytest

from bevel.scanning.store import available, read_memory, share_out


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [("2GB", 2 * 10**9), ("1.5 GiB", 3 * 2**29), (10**9, 10**9), ("500mb", 5 * 10**8)],
)
def test_memory_is_read_as_people_write_it(given, bytes_):
    assert read_memory(given) == bytes_


def test_memory_is_half_of_what_is_free_by_default():
    assert read_memory(None) == pytest.approx(0.5 * available(), rel=0.5)


def test_small_table_stays_in_memory_unless_a_folder_is_given():
    assert share_out(10**9, 1000, 10, on_disk=False).in_memory
    assert not share_out(10**9, 1000, 10, on_disk=True).in_memory
    assert not share_out(10**9, 10**8, 10, on_disk=False).in_memory


def test_shares_add_up_to_less_than_the_memory():
    memory, p = 6 * 10**8, 28
    shares = share_out(memory, 10**7, p, on_disk=True)
    row_bytes = 4 * p + 16
    used = 3 * shares.block_rows * row_bytes  # one is worked on, one is read, one is joined
    used += 8 * shares.numbers + shares.rows * (2 * row_bytes + 60)
    assert used < 0.6 * memory
