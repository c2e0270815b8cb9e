//! Rules against lists: the same results to 1e-9.

use super::*;
use crate::flow::record::Step;
use crate::flow::run;
use crate::topology;
use crate::watch::NoControl;
use crate::workload;

/// What both methods report about an application, and the way that was taken.
fn both(spec: &str, routing: &str, app: &str, mapping: &str, options: &str) -> (FlowResult, FlowResult) {
    let network = topology::build(spec).expect("a spec that works");
    let routing = crate::routing::build(&network, routing).expect("offered");
    let workload = workload::build(app, workload::Room::of(&network, None)).expect("an application");
    let mapping = Mapping::new(mapping, &workload, &network).expect("a mapping");
    let [by_rule, by_list] = ["on", "off"].map(|symmetry| {
        let more = if options.is_empty() { String::new() } else { format!(",{options}") };
        let config = FlowConfig::read(&format!("symmetry={symmetry}{more}")).expect("options that work");
        run(&network, &routing, &workload, &mapping, &config, &NoControl).expect("a run")
    });
    (by_rule, by_list)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// Compares all that is the same whichever of messages that end together comes first.
fn assert_same(by_rule: &FlowResult, by_list: &FlowResult, what: &str) {
    assert!(by_list.symbolic.is_none(), "{what}");
    assert_eq!((by_rule.flows, by_rule.bytes), (by_list.flows, by_list.bytes), "{what}");
    let numbers = |result: &FlowResult| {
        let told = result.messages.as_ref().expect("messages arrived");
        let busy = result.channels.iter().flat_map(|class| [class.mean_utilisation, class.max_utilisation]);
        let path = &result.critical_path;
        let (line, last) = (&result.timeline, result.timeline.bytes_per_s.len() - 1);
        let length = |place: usize| {
            if place < last { line.interval_s } else { result.makespan_s - last as f64 * line.interval_s }
        };
        let carried: f64 = line.bytes_per_s.iter().enumerate().map(|(place, mean)| mean * length(place)).sum();
        let times = [told.mean_s, told.p50_s, told.p99_s, told.max_s, told.mean_stretch, told.max_stretch];
        let mut numbers = vec![result.makespan_s, result.ideal_s, path.message_s, carried];
        numbers.extend(times.into_iter().chain(busy));
        numbers
    };
    for (place, (a, b)) in numbers(by_rule).into_iter().zip(numbers(by_list)).enumerate() {
        assert!(close(a, b), "{what}: number {place} is {a}, by the list {b}");
    }
    for (channel, (a, b)) in by_rule.channel_bytes.iter().zip(&by_list.channel_bytes).enumerate() {
        assert!(close(*a, *b), "{what}: channel {channel} carries {a}, by the list {b}");
    }
    for (message, (a, b)) in by_rule.times.iter().zip(&by_list.times).enumerate() {
        let [a, b] = [a, b].map(|times| times.map(|time| time.max(1e-12)));
        assert!(close(a[0], b[0]) && close(a[1], b[1]), "{what}: message {message} is under way {a:?}, not {b:?}");
    }
    let path = &by_rule.critical_path;
    // What arrives lets the next one begin, or what leaves the connection.
    let follows = |pair: &[Step]| [pair[0].target, pair[0].source].contains(&pair[1].source);
    let steps = path.steps.windows(2).all(|pair| follows(pair) && pair[0].end_s == pair[1].start_s);
    assert!(steps, "{what}: each step of the critical path is let begin by the one before");
    let took: f64 = path.steps.iter().map(|step| step.end_s - step.start_s).sum();
    assert!(path.alone_s <= path.message_s * (1.0 + 1e-9), "{what}: {} s alone, {} s", path.alone_s, path.message_s);
    assert!(path.messages > path.steps.len() || close(took, by_rule.makespan_s), "{what}: the steps take {took}");
}

const HGX: &str = "cluster:hosts=6,host=hgx-h100,fabric=(clos:radix=8,levels=2,rate=400G),attach=rail";

/// The hosts of each rail are on one switch.
const RAILS: &str = "cluster:hosts=4,host=hgx-h100,fabric=(clos:radix=16,levels=2,rate=400G),attach=rail";

/// A network and a routing, an application, a mapping, options, and the way that is taken.
type Way = (&'static str, &'static str, &'static str, &'static str, &'static str, Option<(&'static str, u32)>);

/// Networks and routings with applications, what they are mapped by, options of the engine, and the tasks that stand
/// for all, after the way; none where only the list holds.
#[rustfmt::skip]
const CASES: &[Way] = &[
    ("fattree:k=4,levels=3", "nca", "allreduce:algorithm=ring,size=64KiB", "linear", "", Some(("alike", 1))),
    ("fattree:k=4,levels=3", "nca", "all-gather:size=64KiB,iterations=3", "linear", "", Some(("alike", 1))),
    ("fattree:k=4,levels=3", "nca", "allreduce:algorithm=ring,size=60KiB,tasks=60", "linear", "", Some(("alike", 1))),
    ("clos:radix=8,levels=3", "nca", "reduce-scatter:size=128KiB,group=0-63", "linear", "injection=0.5", Some(("alike", 1))),
    // The last group's way to the first shares links, with two others: most tasks only pass on.
    ("dragonfly:a=4,h=2,p=2", "min", "allreduce:algorithm=ring,size=72KiB", "linear", "", Some(("delay-lines", 3))),
    ("dragonfly:a=4,h=2,p=2", "min", "allreduce:algorithm=ring,size=72KiB", "linear", "latency=50ns", Some(("delay-lines", 3))),
    ("dragonfly:a=4,h=2,p=2,rate=200G,rate.global=100G,delay.global=300ns", "min", "all-gather:size=72KiB,iterations=2", "linear", "", Some(("alike", 8))),
    ("dragonfly:a=4,h=2,p=2,rate=200G,rate.global=100G,delay.global=300ns", "min", "all-gather:size=66KiB,iterations=2,group=1-66", "linear", "", Some(("delay-lines", 9))),
    ("dragonfly:a=4,h=2,p=2,rate=200G,rate.terminal=100G,delay.global=300ns", "min", "all-gather:size=66KiB,iterations=2,group=1-66", "linear", "", Some(("delay-lines", 0))),
    ("dragonfly:a=4,h=2,p=2", "min", "send-recv:shift=9,size=1KiB,iterations=40,group=1-70", "linear", "latency=1us", None),
    // Three rings beside each other.
    ("faulty:base=(hyperx:12,p=2),links=4,seed=2", "min", "send-recv:shift=3,size=1KiB,iterations=40,group=0-20", "linear", "latency=100ns", Some(("delay-lines", 2))),
    ("faulty:base=(hyperx:12,p=2),links=4,seed=3", "min", "send-recv:shift=3,size=1KiB,iterations=90,group=0-20", "linear", "injection=0.25", Some(("alike", 1))),
    ("hyperx:6", "min", "reduce-scatter:size=600KiB,group=0-4", "linear", "latency=1ns", Some(("alike", 1))),
    ("faulty:base=(hyperx:5x5,p=2),links=3", "min", "allreduce:algorithm=ring,size=500KiB", "linear", "", Some(("delay-lines", 2))),
    // Too many tasks share links.
    ("torus:4x4x4", "dor", "allreduce:algorithm=ring,size=64KiB,group=0-62", "random:seed=2", "", None),
    ("dragonfly:a=4,h=2,p=2", "min", "allreduce:algorithm=ring,size=48KiB,tasks=48", "linear", "", Some(("alike", 1))),
    ("dragonfly:a=4,h=2,p=2,arrangement=palmtree", "min", "allreduce:algorithm=ring,size=72KiB", "linear", "", Some(("alike", 1))),
    ("torus:4x4x4", "dor", "allreduce:algorithm=ring,size=64KiB", "linear", "consumption=inf", Some(("alike", 1))),
    // Links are shared: tasks are alike by rows, and so in the latencies of their paths.
    ("hyperx:4x4,p=4", "dor", "allreduce:algorithm=ring,size=64KiB", "linear", "latency=1us", Some(("alike", 16))),
    ("torus:8x4", "dor", "send-recv:shift=4,size=1KiB,iterations=5", "linear", "", None),
    ("torus:8x4", "dor", "send-recv:shift=3,size=1KiB,iterations=5", "linear", "", Some(("alike", 1))),
    (HGX, "hosts", "allreduce:algorithm=ring,size=48KiB", "linear", "", Some(("alike", 8))),
    // Pieces that follow one another, and channels side by side: on hosts each goes round a ring of its own.
    ("fattree:k=4,levels=3", "nca", "allreduce:algorithm=ring,size=64KiB,chunk=16KiB", "linear", "", Some(("alike", 1))),
    ("fattree:k=4,levels=3", "nca", "all-gather:size=64KiB,channels=2,iterations=2", "linear", "injection=0.5", Some(("alike", 1))),
    ("hyperx:4x4,p=4", "dor", "allreduce:algorithm=ring,size=64KiB,chunk=16KiB,iterations=2", "linear", "latency=1us", Some(("alike", 16))),
    ("torus:8x4", "dor", "send-recv:shift=3,size=1KiB,chunk=256,channels=2,iterations=5", "linear", "", Some(("alike", 1))),
    ("fattree:k=4,levels=3", "nca", "allreduce:algorithm=ring,size=64KiB,ranks-per-host=4,channels=4", "linear", "", None),
    (HGX, "hosts", "allreduce:algorithm=ring,size=96KiB,channels=8", "linear", "", Some(("alike", 8))),
    (HGX, "hosts", "reduce-scatter:size=96KiB,channels=2,chunk=12KiB,iterations=2", "linear", "", Some(("alike", 8))),
    (RAILS, "hosts", "allreduce:algorithm=ring,size=64KiB,chunk=16KiB", "linear", "latency=500ns", Some(("alike", 8))),
    (RAILS, "hosts", "allreduce:algorithm=ring,size=64KiB,channels=8", "linear", "latency=500ns", Some(("alike", 8))),
    (RAILS, "hosts", "reduce-scatter:size=64KiB,channels=2,chunk=8KiB", "linear", "", Some(("alike", 8))),
    // What rounding does to lists of these grows.
    (RAILS, "hosts", "reduce-scatter:size=64KiB,channels=2,chunk=8KiB", "linear", "latency=500ns", None),
    (HGX, "hosts", "all-gather:size=160KiB,channels=4,group=8-47", "linear", "", Some(("alike", 8))),
    ("torus:4x4x4", "dor", "allreduce:algorithm=ring,size=64KiB,chunk=16KiB", "random", "", None),
    ("torus:4x4x4", "dor", "allreduce:algorithm=ring,size=64KiB", "random", "", Some(("delay-lines", 25))),
    // All that begins together, of whatever rates.
    ("torus:4x4", "dor", "all-to-all:algorithm=direct,size=1KiB", "linear", "", Some(("at-once", 16))),
    ("clos:radix=8,levels=3", "nca", "all-to-all:algorithm=direct,size=1KiB,tasks=50", "random", "", Some(("at-once", 50))),
    ("dragonfly:a=4,h=2,p=2", "min", "all-gather:algorithm=direct,size=1800KiB", "linear", "latency=2us", Some(("at-once", 72))),
    (HGX, "hosts", "all-to-all:algorithm=direct,size=1KiB", "random", "", Some(("at-once", 48))),
    ("torus:4x4", "val", "all-to-all:algorithm=direct,size=1KiB", "linear", "", Some(("at-once", 16))),
    // Steps of one rate each, different ones too.
    ("fattree:k=4,levels=2", "updown", "all-to-all:algorithm=pairwise,size=1KiB", "linear", "", Some(("lock-step", 16))),
    ("hyperx:16", "min", "all-to-all:algorithm=pairwise,size=1KiB,iterations=2", "random", "", Some(("lock-step", 16))),
    ("hyperx:2,p=2", "min", "all-to-all:algorithm=pairwise,size=1KiB", "linear", "", Some(("lock-step", 4))),
    // Two levels: all at once within hosts, rings across them.
    (HGX, "hosts", "allreduce:algorithm=hierarchical,size=48KiB", "linear", "", Some(("lock-step", 48))),
    (HGX, "hosts", "reduce-scatter:algorithm=hierarchical,size=48KiB,iterations=2", "linear", "", Some(("lock-step", 48))),
    (HGX, "hosts", "all-gather:algorithm=hierarchical,size=480KiB,group=8-47", "linear", "", Some(("lock-step", 40))),
    ("torus:8x4", "dor", "allreduce:algorithm=2d,width=8,size=64KiB", "linear", "", Some(("lock-step", 32))),
    // Rows cross the rails, whose links are shared.
    (HGX, "hosts", "allreduce:algorithm=hierarchical,size=48KiB", "random", "", None),
    // Paths of different lengths, or rates.
    ("fattree:k=4,levels=2", "updown", "all-to-all:algorithm=pairwise,size=1KiB", "linear", "latency=1us", None),
    ("torus:4x4", "dor", "all-to-all:algorithm=pairwise,size=1KiB", "linear", "", None),
    // Two steps, of many messages each, of one rate or of several.
    ("torus:4x4", "dor", "allreduce:algorithm=direct,size=64KiB", "linear", "", Some(("lock-step", 16))),
    ("mesh:4x4", "dor", "allreduce:algorithm=direct,size=64KiB", "linear", "", None),
];

#[test]
fn rules_give_the_results_of_lists() {
    let mut wrong = Vec::new();
    for &(spec, routing, app, mapping, options, way) in CASES {
        let (by_rule, by_list) = both(spec, routing, app, mapping, options);
        let what = format!("{app} on {spec}, {mapping}, {options}");
        let taken = by_rule.symbolic.map(|own| (own.way, own.tasks));
        if taken != way {
            wrong.push((what.clone(), taken));
        }
        assert_same(&by_rule, &by_list, &what);
    }
    assert!(wrong.is_empty(), "other ways were taken: {wrong:#?}");
}

#[test]
fn endpoints_of_tasks_that_stand_for_others_cost_what_those_of_all_do() {
    let network = topology::build("fattree:k=4,levels=3").expect("small");
    let routing = crate::routing::build(&network, "nca").expect("offered");
    let workload = workload::build("allreduce:algorithm=ring,size=64KiB", 64).expect("an application");
    let mapping = Mapping::new("linear", &workload, &network).expect("a mapping");
    for costs in ["overhead=1us,gap=2us,latency=3us,reduce=1ns", "header=64,packet=256,per-byte=2ns", "rendezvous=1"] {
        let [by_rule, by_list] = ["on", "off"].map(|symmetry| {
            let config = FlowConfig::read(&format!("symmetry={symmetry}")).and_then(|own| own.with_endpoint(costs));
            run(&network, &routing, &workload, &mapping, &config.expect("options"), &NoControl).expect("a run")
        });
        assert_eq!(by_rule.symbolic.is_some(), costs != "rendezvous=1");
        assert_same(&by_rule, &by_list, costs);
    }
}

#[test]
fn parts_of_many_messages_are_kept_as_their_rule() {
    for (app, parts) in [("chunk=256KiB", 4), ("channels=2,ranks-per-host=8", 2), ("channels=2,chunk=128KiB", 8)] {
        let rule = workload::build(&format!("allreduce:algorithm=ring,size=1MiB,{app}"), 256).expect("an application");
        assert_eq!((rule.messages().len(), rule.num_messages()), (0, 2 * 255 * 256 * parts), "{app}");
        let listed = rule.listed().expect("it fits");
        assert_eq!((listed.messages().len() as u128, listed.total_bytes()), (rule.num_messages(), rule.total_bytes()));
        assert!(listed.has_connections());
    }
    let padded = workload::build("all-gather:size=3000000,chunk=1MB", 300).expect("an application");
    assert!(padded.notes()[0].contains("rounded up by 600 bytes, so that the pieces"), "{}", padded.notes()[0]);
}

#[test]
fn many_messages_are_kept_as_their_rule() {
    let rule = workload::build("allreduce:algorithm=ring,size=1MiB", 256).expect("an application");
    assert_eq!((rule.messages().len(), rule.num_messages()), (0, 2 * 255 * 256));
    let listed = rule.listed().expect("it fits");
    assert_eq!((listed.messages().len() as u128, listed.total_bytes()), (rule.num_messages(), rule.total_bytes()));
    let padded = workload::build("all-gather:size=1000000", 300).expect("an application");
    assert_eq!((padded.total_bytes(), padded.notes().len()), (299 * 1_000_200, 1));
    assert!(padded.notes()[0].contains("rounded up by 200 bytes"), "{}", padded.notes()[0]);
}
