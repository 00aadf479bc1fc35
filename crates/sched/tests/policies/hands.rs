//! Shuffle sharding beside the table that Kubernetes publishes, "Example Shuffle Sharding
//! Configurations" in *API Priority and Fairness*.

use fairq_sched::work::policies::apf::deal;
use fairq_testkit::draw::{Draw, Replay};

/// Hand, queues, and the probability that 1, 4, 16 tenants that flood have all queues of another
/// one's hand.
const PUBLISHED: [(u32, u32, [f64; 3]); 11] = [
    (12, 32, [4.428838398950118e-09, 0.11431348830099144, 0.9935089607656024]),
    (10, 32, [1.550093439632541e-08, 0.0626479840223545, 0.9753101519027554]),
    (10, 64, [6.601827268370426e-12, 0.00045571320990370776, 0.49999929150089345]),
    (9, 64, [3.6310049976037345e-11, 0.00045501212304112273, 0.4282314876454858]),
    (8, 64, [2.25929199850899e-10, 0.0004886697053040446, 0.35935114681123076]),
    (8, 128, [6.994461389026097e-13, 3.4055790161620863e-06, 0.02746173137155063]),
    (7, 128, [1.0579122850901972e-11, 6.960839379258192e-06, 0.02406157386340147]),
    (7, 256, [7.597695465552631e-14, 6.728547142019406e-08, 0.0006709661542533682]),
    (6, 256, [2.7134626662687968e-12, 2.9516464018476436e-07, 0.0008895654642000348]),
    (6, 512, [4.116062922897309e-14, 4.982983350480894e-09, 2.26025764343413e-05]),
    (6, 1024, [6.337324016514285e-16, 8.09060164312957e-11, 4.517408062903668e-07]),
];
const FLOODING: [usize; 3] = [1, 4, 16];

/// n over k.
fn choose(n: u32, k: u32) -> f64 {
    if k > n { 0.0 } else { (0..k).map(|i| f64::from(n - i) / f64::from(k - i)).product() }
}

/// The probability that the hands of `flooding` tenants cover another hand: they cover c queues
/// together with a probability that follows tenant by tenant, and of those hands C(c, h) lie
/// within.
fn covered(hand: u32, queues: u32, flooding: usize) -> f64 {
    let mut covered = vec![0.0; queues as usize + 1];
    covered[0] = 1.0;
    for _ in 0..flooding {
        let mut next = vec![0.0; queues as usize + 1];
        for (count, probability) in (0_u32..).zip(&covered) {
            for new in 0..=hand.min(queues - count) {
                let ways = choose(queues - count, new) * choose(count, hand - new);
                next[(count + new) as usize] += probability * ways / choose(queues, hand);
            }
        }
        covered = next;
    }
    let within = (0_u32..).zip(&covered).map(|(count, probability)| probability * choose(count, hand));
    within.sum::<f64>() / choose(queues, hand)
}

#[test]
fn hands_are_covered_as_often_as_kubernetes_publishes() {
    const SAMPLES: u32 = 20_000;
    let mut dealt = Vec::new();
    for (hand, queues, published) in PUBLISHED {
        for (flooding, published) in FLOODING.into_iter().zip(published) {
            let _replay = Replay(format!("hand {hand} of {queues}, {flooding} flood"));
            let exact = covered(hand, queues, flooding);
            assert!((exact / published - 1.0).abs() < 1e-6, "{exact}, published {published}");
            // Where 20000 hands tell anything.
            if published * f64::from(SAMPLES) < 5.0 {
                continue;
            }
            let mut draw = Draw::new(u64::from(hand * queues));
            let mut found = 0;
            for _ in 0..SAMPLES {
                let mut is_covered = vec![false; queues as usize];
                for _ in 0..flooding {
                    deal(draw.bits(), queues, hand, &mut dealt);
                    dealt.iter().for_each(|queue| is_covered[*queue as usize] = true);
                }
                deal(draw.bits(), queues, hand, &mut dealt);
                found += u32::from(dealt.iter().all(|queue| is_covered[*queue as usize]));
            }
            // Five standard deviations.
            let (share, samples) = (f64::from(found) / f64::from(SAMPLES), f64::from(SAMPLES));
            let interval = 5.0 * (exact * (1.0 - exact) / samples).sqrt();
            assert!((share - exact).abs() <= interval, "{share}, expected {exact} ± {interval}");
        }
    }
}

#[test]
fn a_hand_has_distinct_queues_and_each_ordered_hand_comes_once() {
    let mut seen = std::collections::BTreeSet::new();
    let mut dealt = Vec::new();
    for hash in 0..6 * 5 * 4 {
        deal(hash, 6, 3, &mut dealt);
        assert!(dealt.iter().all(|queue| *queue < 6) && dealt.len() == 3);
        let distinct: std::collections::BTreeSet<_> = dealt.iter().collect();
        assert_eq!(distinct.len(), 3, "{dealt:?}");
        assert!(seen.insert(dealt.clone()), "{dealt:?} twice");
    }
}
