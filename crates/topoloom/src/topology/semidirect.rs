//! Semidirect products of cyclic groups: (Z_a x Z_b x …) ⋊ Z_n, whose last factor turns the vectors of the others.
//!
//! An element is a vector v and a number t modulo n; (v, t) (w, u) = (v + A^t w, t + u). The matrix A shifts the k digits of
//! a vector upwards, and adds the digit that leaves at the top, times `turn`, to all of them: it multiplies by x where
//! x^k = turn_0 + turn_1 x + … + turn_(k-1) x^(k-1). With one digit it multiplies by turn_0. Without a turn A is 1, and
//! the group is Abelian. The number of an element has its first digit lowest and t highest.

/// A group of this kind.
#[derive(Debug, Clone)]
pub struct Semidirect {
    /// The moduli of the digits of a vector.
    moduli: Vec<u32>,
    /// Vectors.
    vectors: u32,
    /// n.
    turns: u32,
    /// A^t v, at t times the number of vectors + v.
    turned: Vec<u32>,
}

/// Why there is no such group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoGroup {
    /// `turn` has another number of digits than a vector.
    Digits,
    /// The moduli of vectors that turn are not all the same.
    Moduli,
    /// A digit of `turn` is not below the modulus.
    Digit,
    /// A^n is not 1.
    Order,
}

impl Semidirect {
    /// The group of these sizes, of which the last is n, and whose product is at most 2^32 - 1.
    ///
    /// # Errors
    /// If A is no matrix whose n-th power is 1.
    pub fn new(sizes: &[u32], turn: Option<&[u32]>) -> Result<Self, NoGroup> {
        let (&turns, moduli) = sizes.split_last().unwrap_or((&1, &[]));
        let vectors: u32 = moduli.iter().product();
        let mut group = Self { moduli: moduli.to_vec(), vectors, turns, turned: (0..vectors).collect() };
        group.turned.reserve((vectors as usize) * (turns as usize - 1));
        let Some(turn) = turn else {
            group.turned = group.turned.repeat(turns as usize);
            return Ok(group);
        };
        group.check(turn)?;
        let once: Vec<u32> = (0..vectors).map(|vector| group.turn(vector, turn)).collect();
        for t in 1..turns {
            let before = (t as usize - 1) * vectors as usize;
            for vector in 0..vectors as usize {
                group.turned.push(once[group.turned[before + vector] as usize]);
            }
        }
        let last = &group.turned[(turns as usize - 1) * vectors as usize..];
        let is_one = last.iter().zip(0..).all(|(&vector, own)| once[vector as usize] == own);
        if is_one { Ok(group) } else { Err(NoGroup::Order) }
    }

    fn check(&self, turn: &[u32]) -> Result<(), NoGroup> {
        if turn.len() != self.moduli.len() {
            return Err(NoGroup::Digits);
        }
        if self.moduli.iter().any(|&modulus| modulus != self.moduli[0]) {
            return Err(NoGroup::Moduli);
        }
        if turn.iter().any(|&digit| digit >= self.moduli[0]) { Err(NoGroup::Digit) } else { Ok(()) }
    }

    /// A v.
    fn turn(&self, vector: u32, turn: &[u32]) -> u32 {
        let modulus = self.moduli[0];
        let top = vector / (self.vectors / modulus);
        let mut digit_below = 0;
        let (mut left, mut weight, mut result) = (vector, 1, 0);
        for &factor in turn {
            let sum = u64::from(digit_below) + u64::from(top) * u64::from(factor);
            result += (sum % u64::from(modulus)) as u32 * weight;
            digit_below = left % modulus;
            (left, weight) = (left / modulus, weight * modulus);
        }
        result
    }

    /// The number of elements.
    pub fn order(&self) -> u32 {
        self.vectors * self.turns
    }

    /// The sum of a vector and every vector, in order.
    fn shifted(&self, mut by: u32) -> Vec<u32> {
        let mut sums = vec![0];
        for &modulus in &self.moduli {
            let (digit, weight) = (by % modulus, sums.len() as u32);
            by /= modulus;
            sums = (0..modulus)
                .flat_map(|own| sums.iter().map(move |sum| sum + (own + digit) % modulus * weight))
                .collect();
        }
        sums
    }

    /// Every element times `factor`, in order.
    pub fn times(&self, factor: u32) -> Vec<u32> {
        let (vector, turn) = (factor % self.vectors, factor / self.vectors);
        let mut products = Vec::with_capacity(self.order() as usize);
        for t in 0..self.turns {
            let sums = self.shifted(self.turned[(t * self.vectors + vector) as usize]);
            let base = (t + turn) % self.turns * self.vectors;
            products.extend(sums.iter().map(|sum| base + sum));
        }
        products
    }

    /// The inverse of an element.
    pub fn inverse(&self, of: u32) -> u32 {
        let (vector, turn) = (of % self.vectors, of / self.vectors);
        let back = (self.turns - turn) % self.turns;
        let turned = self.turned[(back * self.vectors + vector) as usize];
        back * self.vectors + self.negative(turned)
    }

    /// -v.
    fn negative(&self, mut vector: u32) -> u32 {
        let (mut weight, mut result) = (1, 0);
        for &modulus in &self.moduli {
            result += (modulus - vector % modulus) % modulus * weight;
            (vector, weight) = (vector / modulus, weight * modulus);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_groups() {
        let groups: [(&[u32], Option<&[u32]>); 7] = [
            (&[12], None),
            (&[4, 3, 2], None),
            (&[7, 3], Some(&[2])),
            (&[5, 2], Some(&[4])),
            (&[2, 2, 2, 7], Some(&[1, 1, 0])),
            (&[4, 4, 4], Some(&[1, 2])),
            (&[3, 3, 8], Some(&[1, 1])),
        ];
        for (sizes, turn) in groups {
            let group = Semidirect::new(sizes, turn).expect("a group");
            let order: u32 = sizes.iter().product();
            assert_eq!(group.order(), order);
            let table: Vec<Vec<u32>> = (0..order).map(|factor| group.times(factor)).collect();
            for a in 0..order {
                assert_eq!(table[0][a as usize], a);
                assert_eq!(table[a as usize][group.inverse(a) as usize], 0, "{sizes:?}: {a}");
                for b in 0..order {
                    let product = table[b as usize][a as usize];
                    for &c in &[1, order / 2, order - 1] {
                        let [left, right] = [table[c as usize][product as usize], table[c as usize][b as usize]];
                        assert_eq!(left, table[right as usize][a as usize], "{sizes:?}: ({a} {b}) {c}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_matrix_must_come_back_to_one() {
        let of = |sizes: &[u32], turn: &[u32]| Semidirect::new(sizes, Some(turn)).err();
        assert_eq!(of(&[7, 3], &[3]), Some(NoGroup::Order));
        assert_eq!(of(&[6, 2], &[2]), Some(NoGroup::Order));
        assert_eq!(of(&[7, 3], &[2, 1]), Some(NoGroup::Digits));
        assert_eq!(of(&[4, 2, 2], &[1, 0]), Some(NoGroup::Moduli));
        assert_eq!(of(&[7, 3], &[9]), Some(NoGroup::Digit));
    }
}
