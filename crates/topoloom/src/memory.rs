//! The memory that this process may still take, for the guards before large allocations; memory that is asked for before
//! it is needed; and memory on large pages.
//!
//! Four limits count, and the least of them holds: what the machine can give without swapping, the limits of the
//! process (`ulimit -v`, `ulimit -d`), and those of its control groups, versions 1 and 2, where batch systems and
//! containers set theirs.

use std::alloc::{Layout, alloc, dealloc};
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes that are taken to be available where the system gives no number.
const UNKNOWN: u128 = 8_000_000_000;

/// The bytes that this process can still take without swapping or running into a limit.
pub fn available_memory() -> u128 {
    if cfg!(miri) {
        return UNKNOWN; // it has no files in /proc, and none of the calls
    }
    let root = Path::new("/");
    [of_machine(root), of_process(root, rlimit), of_groups(root)].into_iter().flatten().min().unwrap_or(UNKNOWN)
}

/// Asks for the memory of an entry, which will be used soon. An index past the end does nothing.
#[inline(always)]
pub fn prefetch<T>(entries: &[T], index: usize) {
    prefetch_line(entries.as_ptr().wrapping_add(index).cast());
}

/// As [`prefetch`], of all lines of the cache that an entry takes.
#[inline(always)]
pub fn prefetch_whole<T>(entries: &[T], index: usize) {
    let entry = entries.as_ptr().wrapping_add(index).cast::<u8>();
    (0..size_of::<T>()).step_by(LINE).for_each(|at| prefetch_line(entry.wrapping_add(at)));
}

/// The same of `len` entries from `first` on. As many lines as they may take, wherever they begin: of equally many
/// entries these are the same number, and the loop's branch is predicted.
#[inline(always)]
pub fn prefetch_part<T>(entries: &[T], first: usize, len: usize) {
    let start = entries.as_ptr().wrapping_add(first).cast::<u8>();
    let lines = (len * size_of::<T>() + 2 * (LINE - 1)) / LINE;
    (0..lines).for_each(|line| prefetch_line(start.wrapping_add(line * LINE)));
}

/// Keeps those of some ids of which `stays` is true of their `owner`'s entries, in their order. `ask_for` asks for the memory
/// of an entry that is soon looked at.
pub fn retain_ahead<O: ?Sized>(
    ids: &mut Vec<u32>,
    owner: &mut O,
    ask_for: impl Fn(&O, u32),
    mut stays: impl FnMut(&mut O, u32) -> bool,
) {
    const AHEAD: usize = 16;
    let mut kept = 0;
    for at in 0..ids.len() {
        if let Some(&later) = ids.get(at + AHEAD) {
            ask_for(owner, later);
        }
        let id = ids[at];
        ids[kept] = id;
        kept += usize::from(stays(owner, id));
    }
    ids.truncate(kept);
}

/// Asks for the line of the cache at an address, which may be any.
#[inline(always)]
fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction is part of every x86-64 processor, and changes nothing but caches: any address will do.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// What `/proc/meminfo` counts as available.
fn of_machine(root: &Path) -> Option<u128> {
    field(&fs::read_to_string(root.join("proc/meminfo")).ok()?, "MemAvailable:")
}

/// A field of a file in `/proc` that is given in kB, in bytes.
fn field(text: &str, name: &str) -> Option<u128> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(rest.trim().strip_suffix("kB")?.trim().parse::<u128>().ok()? * 1024)
}

/// What a process may have in all, and the field of `/proc/self/status` that counts what it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    AddressSpace,
    Data,
}

impl Limit {
    const ALL: [(Limit, &str); 2] = [(Limit::AddressSpace, "VmSize:"), (Limit::Data, "VmData:")];
}

/// True if the process has a limit of its own.
pub fn is_limited() -> bool {
    !cfg!(miri) && any_limit(rlimit)
}

fn any_limit(limit: impl Fn(Limit) -> Option<u128>) -> bool {
    Limit::ALL.into_iter().any(|(which, _)| limit(which).is_some())
}

/// What is left of the process's own limits.
fn of_process(root: &Path, limit: impl Fn(Limit) -> Option<u128>) -> Option<u128> {
    let status = fs::read_to_string(root.join("proc/self/status")).unwrap_or_default();
    let left = |(which, used): (Limit, &str)| Some(limit(which)?.saturating_sub(field(&status, used).unwrap_or(0)));
    Limit::ALL.into_iter().filter_map(left).min()
}

/// An empty vector with room for this many. It is to be on large pages if it is read all over: the processor knows where
/// only some thousand pages are.
pub(crate) fn on_large_pages<T>(room: usize) -> Vec<T> {
    let vector = Vec::with_capacity(room);
    use_large_pages(&vector);
    vector
}

/// An empty vector's memory is to be on large pages, as [`on_large_pages`].
pub(crate) fn use_large_pages<T>(vector: &Vec<T>) {
    advise_large_pages(vector.as_ptr() as usize, vector.capacity() * size_of::<T>());
}

/// So is what is allocated at an address.
fn advise_large_pages(start: usize, bytes: usize) {
    #[cfg(target_os = "linux")]
    if !cfg!(miri) {
        let (first, end) = (start.next_multiple_of(LARGE_PAGE), (start + bytes) / LARGE_PAGE * LARGE_PAGE);
        if first < end {
            // SAFETY: the pages have been allocated, and the advice changes nothing that is on them.
            unsafe { libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
}

/// Bytes of a large page on most machines.
const LARGE_PAGE: usize = 1 << 21;
/// A number of bytes that are whole pages, whatever the machine's are.
#[cfg(target_os = "linux")]
const PAGES: usize = 1 << 16;

/// Memory on large pages for arrays that are each too small for them, one behind the other. What is not used of it takes no
/// memory, but for the rest of a page, until that is given back.
#[derive(Debug, Clone)]
pub struct Region(Arc<Pages>);

#[derive(Debug)]
struct Pages {
    first: NonNull<u8>,
    layout: Layout,
    /// Bytes that arrays have been given.
    taken: AtomicUsize,
}

// SAFETY: it hands out each byte once, by an atomic counter, and touches none.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Region {
    /// One with room for this many bytes; `None` if there is no memory.
    pub fn of(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes.max(1).checked_next_multiple_of(LARGE_PAGE)?, LARGE_PAGE).ok()?;
        // SAFETY: the layout is of more than no bytes.
        let first = NonNull::new(unsafe { alloc(layout) })?;
        advise_large_pages(first.as_ptr() as usize, layout.size());
        Some(Self(Arc::new(Pages { first, layout, taken: AtomicUsize::new(0) })))
    }

    /// Memory for `len` entries, which nothing else is given, from the beginning of a line of the cache on; `None` if not so
    /// much is left.
    pub fn take<T>(&self, len: usize) -> Option<NonNull<T>> {
        const { assert!(align_of::<T>() <= LINE) };
        let Pages { first, layout, taken } = &*self.0;
        let bytes = len.checked_mul(size_of::<T>())?.checked_next_multiple_of(LINE)?;
        let after = |at: usize| at.checked_add(bytes).filter(|&end| end <= layout.size());
        let at = taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after).ok()?;
        // SAFETY: that many bytes from there on are within the allocation.
        Some(unsafe { first.add(at) }.cast())
    }

    /// Gives back what is left of the last page that arrays have been given a part of: no more will be taken.
    pub fn give_rest_back(&self) {
        let taken = self.0.taken.swap(self.0.layout.size(), Ordering::Relaxed);
        #[cfg(target_os = "linux")]
        if !cfg!(miri) {
            let (rest, end) = (taken.next_multiple_of(PAGES), taken.next_multiple_of(LARGE_PAGE));
            if rest < end {
                // SAFETY: the pages are the region's own, and it has given, and will give, none of them to an array.
                unsafe { libc::madvise(self.0.first.as_ptr().add(rest).cast(), end - rest, libc::MADV_DONTNEED) };
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = taken;
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: it was allocated so, and what has a part of it keeps the region.
        unsafe { dealloc(self.first.as_ptr(), self.layout) };
    }
}

/// Lets threads that are yet to be started share the heaps that there are, if the address space of this process is
/// limited. By default the C library reserves 64 MB of addresses for the heap of nearly every thread, even the last
/// that are left, and the next allocation of a computation then aborts the process.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn share_heaps() {
    if !cfg!(miri) && rlimit(Limit::AddressSpace).is_some() {
        // SAFETY: the call sets a number, under a lock of its own.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

/// Other C libraries reserve little.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn share_heaps() {}

#[cfg(unix)]
fn rlimit(which: Limit) -> Option<u128> {
    let resource = match which {
        Limit::AddressSpace => libc::RLIMIT_AS,
        Limit::Data => libc::RLIMIT_DATA,
    };
    let mut found = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes into the structure that it is given, and reads nothing else.
    let done = unsafe { libc::getrlimit(resource, &mut found) };
    (done == 0 && found.rlim_cur != libc::RLIM_INFINITY).then(|| u128::from(found.rlim_cur))
}

#[cfg(not(unix))]
fn rlimit(_: Limit) -> Option<u128> {
    None
}

/// A version of control groups: its files, and the name of the memory that can be had back.
struct Version {
    limit: &'static str,
    used: &'static str,
    cache: &'static str,
}

const VERSION_1: Version =
    Version { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", cache: "total_inactive_file" };
const VERSION_2: Version = Version { limit: "memory.max", used: "memory.current", cache: "inactive_file" };

/// What is left within the control groups of the process, each of which is bounded by those above it.
fn of_groups(root: &Path) -> Option<u128> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).ok()?;
    let of_line = |line: &str| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let version = match controllers {
            "" => VERSION_2,
            names if names.split(',').any(|name| name == "memory") => VERSION_1,
            _ => return None,
        };
        let (mounted, top) = mounts.lines().find_map(|line| mount(line, controllers))?;
        let top = root.join(top.trim_start_matches('/'));
        // Within a container the mount may begin below the group's root, or at another one.
        let within = group.strip_prefix(mounted.trim_end_matches('/')).unwrap_or("").trim_start_matches('/');
        ancestors(top, within).filter_map(|folder| left_in(&folder, &version)).min()
    };
    groups.lines().filter_map(of_line).min()
}

/// The group at which a control group's file system is mounted, and where, if this line of `mountinfo` is one with
/// these controllers.
fn mount<'a>(line: &'a str, controllers: &str) -> Option<(&'a str, &'a str)> {
    let (place, system) = line.split_once(" - ")?;
    let (kind, options) = system.split_once(' ')?;
    let fits = match controllers {
        "" => kind == "cgroup2",
        _ => kind == "cgroup" && options.split([' ', ',']).any(|option| option == "memory"),
    };
    let mut fields = place.split(' ').skip(3);
    fits.then_some((fields.next()?, fields.next()?))
}

/// The folder of a group and those above it, up to `top`.
fn ancestors(top: PathBuf, within: &str) -> impl Iterator<Item = PathBuf> {
    let group = top.join(within);
    let count = group.components().count() + 1 - top.components().count();
    group.ancestors().take(count).map(Path::to_owned).collect::<Vec<_>>().into_iter()
}

/// What is left in one group; none without a limit.
fn left_in(folder: &Path, version: &Version) -> Option<u128> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u128>().ok();
    let limit = number(version.limit)?;
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cache = stat.lines().find_map(|line| line.strip_prefix(version.cache)?.trim().parse().ok()).unwrap_or(0);
    Some(limit.saturating_sub(number(version.used).unwrap_or(0).saturating_sub(cache)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_on_large_pages_is_as_any_other() {
        for room in [0, 1, 3 << 18] {
            let mut vector = on_large_pages::<u64>(room);
            assert!(vector.is_empty() && vector.capacity() >= room);
            vector.extend(0..room as u64 + 1);
            assert!(vector.into_iter().eq(0..=room as u64));
        }
    }

    #[test]
    fn a_region_gives_each_byte_once() {
        let region = Region::of(LARGE_PAGE - 5).expect("memory");
        // One line goes to the first, none to the second, and 126 to the third.
        let given = [
            region.take::<u8>(3),
            region.take::<u64>(0).map(NonNull::cast),
            region.take::<u64>(1001).map(NonNull::cast),
        ];
        let start = given[0].expect("there is room").as_ptr() as usize;
        assert!(start.is_multiple_of(LARGE_PAGE));
        let places = given.map(|first| first.expect("there is room").as_ptr() as usize - start);
        assert_eq!(places, [0, LINE, LINE]);
        let left = LARGE_PAGE - 127 * LINE;
        assert!(region.take::<u8>(left + 1).is_none());
        assert_eq!(region.take::<u8>(left).expect("there is room").as_ptr() as usize - start, 127 * LINE);
        assert!(region.take::<u8>(1).is_none() && region.take::<u64>(usize::MAX).is_none());
    }

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore)]
    fn the_rest_of_a_region_takes_no_memory() {
        let region = Region::of(2 * LARGE_PAGE).expect("memory");
        let (given, size) = (LARGE_PAGE + (LARGE_PAGE >> 2), 2 * LARGE_PAGE);
        let first = region.take::<u8>(given).expect("there is room");
        // SAFETY: the region is that large.
        unsafe { first.write_bytes(7, size) };
        region.give_rest_back();
        assert!(region.take::<u8>(1).is_none());
        // SAFETY: all of it is mapped. What was given back is empty.
        let all = unsafe { std::slice::from_raw_parts(first.as_ptr(), size) };
        assert!(all[..given].iter().all(|&byte| byte == 7));
        assert!(cfg!(miri) || all[given..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn there_is_no_region_of_more_than_there_is() {
        assert!(Region::of(usize::MAX / 2).is_none() && Region::of(usize::MAX - 3).is_none());
        // As many addresses as no machine has: the system gives none.
        assert!(cfg!(miri) || Region::of(usize::MAX / 4).is_none());
    }

    /// A folder with these files, instead of the root.
    fn system(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("topoloom-memory-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("folders can be made");
            fs::write(path, text).expect("files can be written");
        }
        root
    }

    #[test]
    fn the_machine_gives_what_is_available() {
        let root = system("machine", &[("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    3000 kB\n")]);
        assert_eq!(of_machine(&root), Some(3_072_000));
        assert_eq!(of_machine(&root.join("elsewhere")), None);
    }

    #[test]
    fn limits_of_the_process_count_less_what_it_has() {
        let root = system("process", &[("proc/self/status", "VmSize:\t 600 kB\nVmData:\t 100 kB\n")]);
        let limits = |space: Option<u128>, data: Option<u128>| {
            of_process(&root, move |limit| if limit == Limit::Data { data } else { space })
        };
        assert_eq!(limits(None, None), None);
        assert!(
            !any_limit(|_| None) && Limit::ALL.iter().all(|(one, _)| any_limit(|other| (other == *one).then_some(1)))
        );
        assert_eq!(limits(Some(1024 * 1000), None), Some(1024 * 400));
        assert_eq!(limits(Some(1024 * 1000), Some(1024 * 150)), Some(1024 * 50));
        assert_eq!(limits(Some(1024), None), Some(0));
    }

    #[test]
    fn groups_of_version_2_are_bounded_by_those_above() {
        let root = system(
            "v2",
            &[
                ("proc/self/cgroup", "0::/jobs/one\n"),
                ("proc/self/mountinfo", "30 23 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"),
                ("sys/fs/cgroup/jobs/memory.max", "1000\n"),
                ("sys/fs/cgroup/jobs/memory.current", "700\n"),
                ("sys/fs/cgroup/jobs/memory.stat", "anon 500\ninactive_file 150\n"),
                ("sys/fs/cgroup/jobs/one/memory.max", "max\n"),
            ],
        );
        assert_eq!(of_groups(&root), Some(450));
        fs::write(root.join("sys/fs/cgroup/jobs/one/memory.max"), "300\n").expect("files can be written");
        assert_eq!(of_groups(&root), Some(300));
    }

    #[test]
    fn groups_of_version_1_are_found_in_containers_too() {
        let mount = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                     35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let files = [
            ("proc/self/cgroup", "4:memory:/docker/abc\n3:cpuset:/\n"),
            ("proc/self/mountinfo", mount),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "4000"),
            ("sys/fs/cgroup/memory/memory.stat", "inactive_file 9\ntotal_inactive_file 100\n"),
        ];
        assert_eq!(of_groups(&system("v1", &files)), Some(1100));
    }

    #[test]
    fn this_machine_has_some() {
        assert!(available_memory() > 1_000_000);
    }
}
