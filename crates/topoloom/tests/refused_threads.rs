//! A run goes on with the threads that the system gives. Alone in its process, whose memory it limits.
#![cfg(target_os = "linux")]

use std::sync::atomic::{AtomicU32, Ordering};

use topoloom::cycle::{self, Config, Control, Uncontrolled};

/// Hears with how many threads a run goes on.
#[derive(Default)]
struct Heard(AtomicU32);

impl Control for Heard {
    fn cancelled(&self) -> bool {
        false
    }

    fn fewer_threads(&self, threads: u32) {
        self.0.store(threads, Ordering::Relaxed);
    }
}

/// Lets this process have so many bytes more than it has.
fn limit_memory(more: u64) {
    let status = std::fs::read_to_string("/proc/self/statm").expect("Linux tells sizes");
    let pages: u64 = status.split(' ').next().and_then(|pages| pages.parse().ok()).expect("a number of pages");
    // SAFETY: both calls read or fill what they are given.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE) as u64;
        let limit = libc::rlimit { rlim_cur: pages * page + more, rlim_max: libc::RLIM_INFINITY };
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &limit), 0, "the limit is set");
    }
}

#[test]
fn a_refused_thread_neither_ends_a_run_nor_hangs_it() {
    let network = topoloom::topology::build("mesh:16x16").expect("a network");
    let run = |threads, control: &dyn Control| {
        let config = Config { threads, warmup: Some(10), measure: Some(40), ..Config::default() };
        cycle::simulate(&network, "dor", "uniform", 0.3, &config, control).expect("it runs")
    };
    let alone = run(1, &Uncontrolled);
    let heard = Heard::default();
    // Stacks of 2 MB: room for some of the threads and for what the run itself needs.
    limit_memory(96 << 20);
    let point = run(200, &heard);
    let threads = heard.0.load(Ordering::Relaxed);
    assert!((1..100).contains(&threads), "{threads} threads of 200");
    assert_eq!((point.accepted, point.latency_cycles, point.hops), (alone.accepted, alone.latency_cycles, alone.hops));
    assert_eq!(point.flit_hops, alone.flit_hops);
}
