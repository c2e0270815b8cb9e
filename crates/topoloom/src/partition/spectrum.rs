//! The second smallest eigenvalue of the Laplacian (the algebraic connectivity), its eigenvector, and a lower bound on
//! it that is proved, not only converged to.

use rayon::prelude::*;

use crate::graph::Graph;
use crate::rng::Rng;
use crate::watch;

/// The algebraic connectivity as iteration finds it: never below the true one but for rounding.
pub(super) struct Fiedler {
    pub value: f64,
    pub vector: Vec<f64>,
}

/// Computes the Fiedler pair by the locally optimal conjugate gradient method (Knyazev, SIAM J. Sci. Comput. 2001)
/// among the vectors whose entries sum to nothing.
pub(super) fn fiedler(graph: &Graph) -> Fiedler {
    /// Iterations; a pair that is not there by then is still good enough to cut along.
    const LIMIT: usize = 2000;
    let mut random = Rng::stream(1, 0);
    let mut vector: Vec<f64> =
        (0..graph.len()).map(|_| f64::from(random.below(1 << 30)) - f64::from(1 << 29)).collect();
    orthonormalise(&mut vector, &[]);
    let mut direction: Option<Vec<f64>> = None;
    let mut value = 0.0;
    let stage = watch::stage("spectrum", 0);
    for _ in 0..LIMIT {
        stage.step();
        let image = laplacian(graph, &vector);
        value = dot(&vector, &image);
        let mut residual: Vec<f64> = image.iter().zip(&vector).map(|(image, x)| image - value * x).collect();
        if dot(&residual, &residual).sqrt() <= 1e-9 * (value + 1e-3) || !orthonormalise(&mut residual, &[&vector]) {
            break;
        }
        let mut basis = vec![residual];
        if let Some(mut direction) = direction.take()
            && orthonormalise(&mut direction, &[&vector, &basis[0]])
        {
            basis.push(direction);
        }
        basis.insert(0, vector);
        let weights = lowest_in(graph, &basis);
        let step = combine(&basis[1..], &weights[1..]);
        vector = combine(&basis, &weights);
        orthonormalise(&mut vector, &[]);
        direction = Some(step);
    }
    Fiedler { value, vector }
}

/// A lower bound on the algebraic connectivity, close below `estimate` if that is it; `None` if the graph is too large.
///
/// With J the matrix of ones, L + cJ has the eigenvalues of the Laplacian L, but for the 0 of the constant vector, which
/// becomes c n. If Cholesky's factorisation of L + cJ - μI runs to its end, all of them lie above μ.
pub(super) fn connectivity_bound(graph: &Graph, estimate: f64) -> Option<f64> {
    /// Routers for which the cubic cost and the quadratic memory are bearable: seconds, and 134 MB.
    const LARGEST: usize = 4096;
    if graph.len() > LARGEST {
        return None;
    }
    let degree = (0..graph.len() as u32).map(|router| graph.degree(router)).max().unwrap_or(0);
    // A factorisation that ends in floating point proves as much up to n (n + 3) units of rounding of the diagonal.
    let n = graph.len() as f64;
    let rounding = n * (n + 3.0) * f64::EPSILON * (2.0 * f64::from(degree) + 1.0);
    [1e-9, 1e-6, 1e-3, 1e-2, 0.1, 0.5]
        .into_iter()
        .map(|margin| estimate * (1.0 - margin))
        .find(|&shift| is_positive_definite(shifted_laplacian(graph, f64::from(degree), shift), graph.len()))
        .map(|shift| (shift - rounding).max(0.0))
        .or(Some(0.0))
}

/// L + (2 degree / n) J - shift I: the constant vector's eigenvalue 2 degree is not below any other.
fn shifted_laplacian(graph: &Graph, degree: f64, shift: f64) -> Vec<f64> {
    let n = graph.len();
    let mut matrix = vec![2.0 * degree / n as f64; n * n];
    for router in 0..n {
        let row = &mut matrix[router * n..(router + 1) * n];
        row[router] += f64::from(graph.degree(router as u32)) - shift;
        for (peer, links) in graph.links(router as u32) {
            row[peer as usize] -= f64::from(links);
        }
    }
    matrix
}

/// Cholesky's factorisation, in place, block of rows by block of rows: true if it runs to its end.
fn is_positive_definite(mut matrix: Vec<f64>, n: usize) -> bool {
    const BLOCK: usize = 64;
    let stage = watch::stage("bound of the bisection", n.div_ceil(BLOCK) as u64);
    for first in (0..n).step_by(BLOCK) {
        stage.step();
        let (done, rest) = matrix.split_at_mut(first * n);
        let block = &mut rest[..BLOCK.min(n - first) * n];
        // Columns of earlier blocks: the rows do not depend on each other, and share each earlier row while it is cached.
        block.par_chunks_mut(8 * n).for_each(|rows| {
            for column in 0..first {
                let pivot = &done[column * n..column * n + column + 1];
                rows.chunks_mut(n).for_each(|row| eliminate(row, pivot, column));
            }
        });
        for row in 0..block.len() / n {
            let (above, own) = block.split_at_mut(row * n);
            for column in first..first + row {
                let start = (column - first) * n;
                eliminate(own, &above[start..start + column + 1], column);
            }
            let diagonal = first + row;
            let square = own[diagonal] - dot(&own[..diagonal], &own[..diagonal]);
            if square.is_nan() || square <= 0.0 {
                return false;
            }
            own[diagonal] = square.sqrt();
        }
    }
    true
}

fn eliminate(row: &mut [f64], pivot: &[f64], column: usize) {
    row[column] = (row[column] - dot(&row[..column], &pivot[..column])) / pivot[column];
}

fn laplacian(graph: &Graph, vector: &[f64]) -> Vec<f64> {
    let image = |router: usize| {
        let links = graph.links(router as u32);
        links.map(|(peer, links)| f64::from(links) * (vector[router] - vector[peer as usize])).sum()
    };
    (0..vector.len()).into_par_iter().with_min_len(4096).map(image).collect()
}

/// The weights on an orthonormal basis of the vector of the smallest Rayleigh quotient in its span.
fn lowest_in(graph: &Graph, basis: &[Vec<f64>]) -> Vec<f64> {
    let images: Vec<Vec<f64>> = basis.iter().map(|vector| laplacian(graph, vector)).collect();
    let row = |vector: &Vec<f64>| images.iter().map(|image| dot(vector, image)).collect();
    let matrix: Vec<Vec<f64>> = basis.iter().map(row).collect();
    lowest_eigenvector(matrix)
}

/// The eigenvector of the smallest eigenvalue of a small symmetric matrix, by Jacobi's rotations.
fn lowest_eigenvector(mut matrix: Vec<Vec<f64>>) -> Vec<f64> {
    let n = matrix.len();
    let mut vectors: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _sweep in 0..30 {
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            if matrix[p][q] == 0.0 {
                continue;
            }
            let angle = 0.5 * (2.0 * matrix[p][q]).atan2(matrix[p][p] - matrix[q][q]);
            let (sin, cos) = angle.sin_cos();
            let rotate = |x: f64, y: f64| (cos * x + sin * y, cos * y - sin * x);
            for row in matrix.iter_mut().chain(&mut vectors) {
                (row[p], row[q]) = rotate(row[p], row[q]);
            }
            let (upper, lower) = matrix.split_at_mut(q);
            for (x, y) in upper[p].iter_mut().zip(&mut lower[0]) {
                (*x, *y) = rotate(*x, *y);
            }
        }
    }
    let lowest = (0..n).min_by(|&a, &b| matrix[a][a].total_cmp(&matrix[b][b])).unwrap_or(0);
    vectors.iter().map(|row| row[lowest]).collect()
}

/// Makes `vector` a unit vector, orthogonal to the constant vector and to `others`; false if nothing is left of it.
fn orthonormalise(vector: &mut [f64], others: &[&Vec<f64>]) -> bool {
    // Twice is enough (Kahan and Parlett).
    for _ in 0..2 {
        let before = dot(vector, vector).sqrt();
        let mean = vector.iter().sum::<f64>() / vector.len() as f64;
        vector.iter_mut().for_each(|x| *x -= mean);
        for other in others {
            let share = dot(vector, other);
            vector.iter_mut().zip(other.iter()).for_each(|(x, y)| *x -= share * y);
        }
        let norm = dot(vector, vector).sqrt();
        if norm <= 1e-12 * before || norm == 0.0 {
            return false;
        }
        vector.iter_mut().for_each(|x| *x /= norm);
    }
    true
}

fn combine(basis: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; basis[0].len()];
    for (vector, weight) in basis.iter().zip(weights) {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += weight * x);
    }
    sum
}

/// The scalar product, in eight sums side by side, which the compiler can keep in vector registers.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::build;
    use std::f64::consts::TAU;

    /// Eigenvalues that are known in closed form.
    #[test]
    fn estimate_and_bound_enclose_the_known_value() {
        for (spec, known) in [
            ("flex:6x6x3", 12.0),
            ("flex:5x7x3", 10.0),
            ("hyperx:10x10", 10.0),
            ("hyperx:5x4x3,trunk=2", 6.0),
            ("torus:30", 2.0 - 2.0 * (TAU / 30.0).cos()),
            ("torus:9x8x7", 2.0 - 2.0 * (TAU / 9.0).cos()),
            ("mesh:12x9", 2.0 - 2.0 * (TAU / 24.0).cos()),
            ("slimfly:q=5", 5.0),
        ] {
            let graph = Graph::new(&build(spec).expect(spec));
            let value = fiedler(&graph).value;
            assert!((value - known).abs() < 1e-7, "{spec}: {value} is not {known}");
            let bound = connectivity_bound(&graph, value).expect("small");
            assert!(bound < known && known - bound < 1e-6, "{spec}: {bound} is not just below {known}");
        }
    }

    #[test]
    fn an_estimate_that_is_too_high_does_not_pass() {
        let graph = Graph::new(&build("hyperx:6x5").expect("small"));
        let bound = connectivity_bound(&graph, 6.0).expect("small");
        assert!(bound <= 5.0, "{bound} is above the true 5");
    }

    #[test]
    fn cholesky_knows_definite_from_indefinite() {
        for n in [1, 7, 64, 65, 200] {
            // min(i, j) + 1 is positive definite, with determinant 1.
            let matrix: Vec<f64> = (0..n * n).map(|at| ((at / n).min(at % n) + 1) as f64).collect();
            assert!(is_positive_definite(matrix.clone(), n));
            let mut shifted = matrix;
            shifted[n * n - 1] -= 1.0 + 1e-6;
            assert!(!is_positive_definite(shifted, n));
        }
    }

    #[test]
    fn a_disconnected_graph_has_no_connectivity() {
        let graph = Graph::new(&build("flex:2x2x4").expect("small"));
        let value = fiedler(&graph).value;
        assert!(value < 1e-6);
        assert!(connectivity_bound(&graph, value).is_some_and(|bound| bound <= 0.0));
    }
}
