//! Every application: its tasks come to an end in whatever order messages arrive, and each message is sent once.

use super::*;
use crate::topology;

/// Applications with the number of their messages on 64 terminals.
const KNOWN: &[(&str, usize)] = &[
    ("reduce", 63),
    ("reduce:algorithm=binomial", 63),
    ("allreduce", 64 * 6),
    ("allreduce:tasks=48", 32 * 5 + 2 * 16),
    ("allreduce:algorithm=ring,tasks=9", 2 * 9 * 8),
    ("allreduce:algorithm=tree,tasks=9,iterations=3", 3 * 2 * 8),
    ("allreduce:algorithm=rabenseifner,tasks=48", 2 * 32 * 5 + 2 * 16),
    ("mapreduce", 63 * 2 + 63 * 16),
    ("mapreduce:partners=all,tasks=10", 9 * 2 + 9 * 8),
    ("mapreduce:share=0,tasks=10", 9 * 2),
    ("sweep3d", 3 * 3 * 16),
    ("sweep3d:grid=4x3x5,sweeps=2", 2 * (3 * 3 * 5 + 4 * 2 * 5 + 4 * 3 * 4)),
    ("sweep3d:reading=inrflow,sweeps=2", 2 * (3 * 3 * 16 + 1)),
    ("flood:waves=1", 3 * 64),
    ("flood:grid=3x3x3,waves=2", 2 * (3 * 27 - 27)),
    ("flood:reading=inrflow,waves=2", 2 * 6 * 64),
    ("nearneighbors", 6 * 64),
    ("nearneighbors:grid=4x2x1,iterations=2", 2 * 4 * 8),
    ("nbodies", 64 * 32),
    ("nbodies:tasks=9", 9 * 4),
    ("nbodies:reading=inrflow", 64 * 6),
    ("unstructured", 64),
    ("unstructured:each=8,size=1KiB-64KiB,rounds=2", 2 * 8 * 64),
    ("unstructured-mgmt:messages=1000", 1000),
    ("unstructured-hr:each=3,hot=0.01", 192),
    ("bisection", 4 * 64),
    ("bisection:tasks=9,rounds=1", 8),
    ("alltoall", 64 * 63),
    ("alltoall:algorithm=bruck,tasks=48", 48 * 6),
    ("alltoall:algorithm=pairwise,tasks=9", 9 * 8),
    ("broadcast", 63),
    ("broadcast:algorithm=chain", 63),
    ("broadcast:algorithm=linear,tasks=5", 4),
    ("halo:grid=4x4x4", 6 * 64),
    ("halo:grid=4x4,corners=true,compute=5us,iterations=2", 2 * 8 * 16),
    ("halo:grid=3x3x3,open=true,corners=true", 8 * 7 + 12 * 11 + 6 * 17 + 26),
    ("allreduce:algorithm=double-binary-tree,tasks=48", 4 * 47),
    ("allreduce:algorithm=hierarchical,tasks=24,ranks-per-host=4", 2 * 24 * (3 + 5)),
    ("allreduce:algorithm=2d,tasks=24", 2 * 24 * (3 + 5)),
    ("allreduce:algorithm=direct,tasks=9,channels=2,iterations=2", 2 * 2 * 2 * 9 * 8),
    ("allreduce:algorithm=ring,tasks=9,chunk=8KiB,channels=2", 2 * 4 * 2 * 9 * 8),
    ("reduce-scatter:algorithm=halving-doubling,tasks=48", 32 * 5 + 2 * 16),
    ("reduce-scatter:algorithm=bruck,tasks=48", 48 * 6),
    ("all-gather:algorithm=recursive-doubling,tasks=48", 32 * 5 + 2 * 16),
    ("all-gather:algorithm=bruck,tasks=9", 9 * 4),
    ("all-to-all:algorithm=hierarchical,ranks-per-host=8", 64 * (7 + 7)),
    ("all-to-all-v:size=1KiB-4KiB,tasks=9", 9 * 8),
    ("broadcast:algorithm=double-binary-tree,tasks=48,root=5", 2 * 47),
    ("reduce:algorithm=hierarchical,tasks=24,ranks-per-host=4,root=5", 23),
    ("broadcast:algorithm=chain,tasks=9,chunk=16KiB", 4 * 8),
    ("send-recv:shift=3,channels=2", 2 * 64),
    ("barrier:tasks=9", 9 * 4),
    ("barrier:algorithm=tree,tasks=9,iterations=3", 3 * 2 * 8),
    ("allreduce:algorithm=auto,group=0-31/2+40-47", 2 * (2 * 23)),
    ("training", 64),
    ("training:pipelined=false", 2 * 64 * 63),
    (
        "training:tensor=2,pipeline=4,expert=2,data=4",
        // Passes of layers, each with rings of tensor ranks and all-to-alls of experts; stages; gradients.
        4 * 2 * 8 * (2 * 8 + 2 * 8) + 2 * 3 * 8 * 8 + 4 * (8 + 8),
    ),
    (
        "training:tensor=2,pipeline=2,interleave=2,context=2,data=2,sequence-parallel,zero=3,recompute=full,layers=4",
        // Three boundaries, and for each of 4 layers and microbatches, of 8 ranks: keys and values three times and
        // their gradients, sums of tensor ranks six times in two halves, weights twice and their gradients.
        2 * 3 * 4 * 8 + 4 * 4 * 8 * (4 + 2 * 6 + 3),
    ),
];

#[test]
fn congestors_go_on_until_the_canaries_are_done() {
    for congestor in ["none", "alltoall", "incast", "broadcast", "onesided", "all"] {
        for canary in ["latency", "bandwidth", "allreduce"] {
            let spec = format!("gpcnet:congestor={congestor},canary={canary},iterations=200");
            let workload = build(&spec, 64).expect(&spec);
            let (canaries, mut sent) = (workload.endless(), vec![0; workload.messages().len()]);
            assert_eq!(canaries, 13, "{spec}");
            let mut progress = Progress::new(&workload);
            let mut ready = Vec::new();
            progress.start(&mut ready);
            while !progress.finished() {
                match ready.remove(0) {
                    Ready::Message(message) => {
                        sent[message as usize] += 1;
                        progress.delivered(message, &mut ready);
                    }
                    Ready::Compute { op, .. } => progress.computed(op, &mut ready),
                    Ready::Answer(message) => unreachable!("{message} has not asked"),
                }
            }
            for (message, sent) in workload.messages().iter().zip(sent) {
                let canary = message.source < canaries;
                assert_eq!(canary, message.target < canaries, "{spec}");
                assert!(if canary { sent == 1 } else { sent > 1 }, "{spec}: {message:?} was sent {sent} times");
            }
        }
    }
}

/// Drives a workload, the message that was sent last arriving first or last, where it has asked if messages ask; returns
/// how often each was sent.
fn drive(workload: &Workload, last_first: bool, asks: bool) -> Vec<u32> {
    let mut sent = vec![0; workload.messages().len()];
    let mut progress = Progress::new(workload);
    let mut ready = Vec::new();
    progress.start(&mut ready);
    while !ready.is_empty() {
        assert!(!progress.finished());
        match if last_first { ready.pop().unwrap() } else { ready.remove(0) } {
            Ready::Message(message) if asks => progress.asked(message, &mut ready),
            Ready::Message(message) | Ready::Answer(message) => {
                assert!(!asks || is_posted(workload, message, &sent), "{}: {message}", workload.spec());
                sent[message as usize] += 1;
                progress.left(message, &mut ready);
                progress.delivered(message, &mut ready);
            }
            Ready::Compute { op, .. } => progress.computed(op, &mut ready),
        }
    }
    assert!(progress.finished(), "{}", workload.spec());
    sent
}

/// True if a message's task has all that it waits for before it posts the receive; always of a graph of operations.
fn is_posted(workload: &Workload, message: u32, sent: &[u32]) -> bool {
    if let Order::Graph(_) = workload.order {
        return true;
    }
    let own = workload.range(workload.messages()[message as usize].target);
    let ops: Vec<Op> = workload.ops[own].iter().map(|op| op.unpack()).collect();
    let place = ops.iter().position(|op| *op == Op::Receive(message)).expect("it is received");
    let together = ops[..place].iter().rev().take_while(|op| matches!(op, Op::Receive(_))).count();
    ops[..place - together].iter().all(|op| !matches!(op, Op::Receive(message) if sent[*message as usize] == 0))
}

#[test]
fn all_come_to_an_end_and_send_each_message_once() {
    for &(spec, messages) in KNOWN {
        let workload = build(spec, 64).expect(spec);
        assert_eq!(workload.messages().len(), messages, "{spec}");
        for message in workload.messages() {
            assert!(message.source != message.target && message.bytes > 0, "{spec}: {message:?}");
        }
        for (last_first, asks) in [(false, false), (true, false), (false, true), (true, true)] {
            assert!(drive(&workload, last_first, asks).iter().all(|sent| *sent == 1), "{spec}");
        }
    }
}

#[test]
fn parts_of_the_tasks_can_be_driven_apart() {
    for &(spec, messages) in KNOWN {
        let workload = build(spec, 64).expect(spec);
        let part = |odd: u32| (0..workload.tasks()).filter(|task| task % 2 == odd).collect();
        let mut parts = [Progress::of(&workload, part(0)), Progress::of(&workload, part(1))];
        let mut ready = Vec::new();
        parts.iter_mut().for_each(|part| part.start(&mut ready));
        let mut sent = 0;
        while let Some(next) = ready.pop() {
            match next {
                Ready::Message(message) => {
                    let target = workload.messages()[message as usize].target;
                    parts[target as usize % 2].asked(message, &mut ready);
                }
                Ready::Answer(message) => {
                    sent += 1;
                    let Message { source, target, .. } = workload.messages()[message as usize];
                    parts[source as usize % 2].left(message, &mut ready);
                    parts[target as usize % 2].delivered(message, &mut ready);
                }
                Ready::Compute { op, .. } => parts[workload.task_of(op) as usize % 2].computed(op, &mut ready),
            }
        }
        assert!(parts.iter().all(Progress::finished), "{spec}");
        assert_eq!(sent, messages, "{spec}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_size() {
    for (spec, room, wanted) in [
        ("allreduce:algorithm=ring,size=1GiB", 131_072, "34359476224 messages"),
        ("alltoall", 131_072, "17179738112 messages"),
        ("nbodies", 131_072, "reading=inrflow"),
        ("mapreduce:partners=all", 131_072, "at most 1073741824"),
    ] {
        // Of regular collectives the rule fits, but not the list.
        let listed = build(spec, room).and_then(|workload| workload.listed().map(|own| own.messages().len()));
        let error = listed.expect_err(spec).to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn mappings_put_every_task_on_a_terminal_of_its_own() {
    let network = topology::build("torus:8x8x8").expect("a torus");
    let workload = build("nearneighbors:grid=6x6x6", 512).expect("a workload");
    for text in ["linear", "random", "random:seed=2", "blocks", "blocks:size=5,seed=3", "tiles:size=2x3x1"] {
        let mapping = Mapping::new(text, &workload, &network).expect(text);
        let mut terminals: Vec<u32> = mapping.terminals().iter().map(|terminal| terminal.0).collect();
        assert_eq!(terminals.len(), 216, "{text}");
        terminals.sort_unstable();
        terminals.dedup();
        assert_eq!(terminals.len(), 216, "{text}");
    }
    let tiles = Mapping::new("tiles:size=2x3x1", &workload, &network).expect("tiles");
    // Tasks 0, 1, 6, 7, 12, 13 are the first tile; task 2 begins the next one.
    assert_eq!([0, 1, 6, 7, 12, 13, 2].map(|task| tiles.terminal(task).0), [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn the_number_of_tasks_follows_from_the_room_unless_the_text_has_one() {
    for (spec, fills) in [
        ("reduce", true),
        ("sweep3d", true),
        ("training:tensor=2", true),
        ("gpcnet", true),
        ("reduce:tasks=9", false),
        ("sweep3d:grid=2x2x2", false),
        ("halo:grid=4x4", false),
        ("training:tensor=2,data=3", false),
    ] {
        assert_eq!(build(spec, 64).expect(spec).fills_room(), fills, "{spec}");
    }
}

#[test]
fn the_flow_engine_rejects_what_is_sent_again_and_again() {
    use crate::flow::check_workload;
    let error = check_workload(&build("gpcnet:congestor=incast", 64).expect("it fits")).expect_err("it repeats");
    assert!(error.to_string().contains("repeats messages"), "{error}");
    assert!(KNOWN.iter().all(|(spec, _)| check_workload(&build(spec, 64).expect(spec)).is_ok()));
}

/// The ideal against single messages, whose end times are computed by hand.
#[test]
fn the_ideal_knows_what_a_task_waits_for() {
    let alone = |rates: [f64; 2], spec: &str| {
        let workload = build(spec, 64).expect(spec);
        let bytes = |message: &Message| message.bytes as f64;
        let seconds = |message: u32| bytes(&workload.messages()[message as usize]);
        ideal(&workload, &IdealNetwork { send: rates[0], receive: rates[1], bytes: &bytes, alone_s: &seconds })
    };
    let open = [f64::INFINITY; 2];
    assert_eq!(alone(open, "reduce:size=10"), 10.0);
    assert_eq!(alone([f64::INFINITY, 1.0], "reduce:size=10"), 630.0);
    assert_eq!(alone([f64::INFINITY, 2.0], "reduce:size=10"), 315.0);
    assert_eq!(alone([1.0, f64::INFINITY], "broadcast:size=10,algorithm=linear,tasks=5"), 40.0);
    // A sweep waits for three messages at each of nine diagonals; those at edges for fewer.
    assert_eq!(alone(open, "sweep3d:size=10,grid=4x4x4"), 90.0);
    assert_eq!(alone([f64::INFINITY, 1.0], "sweep3d:size=10,grid=2x2x2"), 10.0 + 20.0 + 30.0);
    assert_eq!(alone(open, "gpcnet:congestor=incast,iterations=3,warmup=5s,size=10"), 35.0);
}
