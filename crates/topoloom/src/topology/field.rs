//! Finite fields GF(q), q = p^m, for the graphs of McKay, Miller and Širáň.
//!
//! The code of an element is a number in base p: digit i is the coefficient of x^i. Addition is digit by digit. With
//! m = 1 the primitive element ξ is the smallest primitive root. With m > 1 the field is that of the first monic
//! polynomial x^m + c_(m-1) x^(m-1) + … + c_0, by (c_0, …, c_(m-1)) in lexicographic order with c_0 ≠ 0, modulo which
//! x is primitive; ξ = x, whose code is p.

/// The prime and the exponent of a prime power, or `None`.
pub(super) fn prime_power(q: u32) -> Option<(u32, u32)> {
    let prime = smallest_factor(q)?;
    let (mut rest, mut exponent) = (q, 0);
    while rest % prime == 0 {
        rest /= prime;
        exponent += 1;
    }
    (rest == 1).then_some((prime, exponent))
}

/// The smallest prime factor of `n`, if n > 1.
fn smallest_factor(n: u32) -> Option<u32> {
    if n < 2 {
        return None;
    }
    let divisors = (2u32..).take_while(|&d| u64::from(d) * u64::from(d) <= u64::from(n));
    Some(divisors.into_iter().find(|&d| n.is_multiple_of(d)).unwrap_or(n))
}

/// A finite field, by its tables of powers and logarithms of ξ.
#[derive(Debug)]
pub(super) struct Field {
    prime: u32,
    order: u32,
    /// ξ^0, …, ξ^(q-2).
    powers: Vec<u32>,
    /// The exponent of each element but 0.
    logarithms: Vec<u32>,
}

impl Field {
    /// The field of `order` elements, if that is a prime power.
    pub fn new(order: u32) -> Option<Self> {
        let (prime, exponent) = prime_power(order)?;
        let powers = if exponent == 1 { powers_of_root(prime) } else { powers_of_x(prime, exponent) };
        let mut logarithms = vec![0; order as usize];
        for (exponent, &element) in (0..).zip(&powers) {
            logarithms[element as usize] = exponent;
        }
        Some(Self { prime, order, powers, logarithms })
    }

    /// The number of elements.
    pub fn order(&self) -> u32 {
        self.order
    }

    /// ξ^exponent.
    pub fn power(&self, exponent: u32) -> u32 {
        self.powers[(exponent % (self.order - 1)) as usize]
    }

    /// a + b.
    #[inline]
    pub fn add(&self, a: u32, b: u32) -> u32 {
        if self.prime == self.order {
            return reduced(a + b, self.prime);
        }
        self.by_digits(a, b, |x, y| (x + y) % self.prime)
    }

    /// a - b.
    #[inline]
    pub fn subtract(&self, a: u32, b: u32) -> u32 {
        if self.prime == self.order {
            return reduced(a + self.prime - b, self.prime);
        }
        self.by_digits(a, b, |x, y| (x + self.prime - y) % self.prime)
    }

    #[inline(always)]
    fn by_digits(&self, mut a: u32, mut b: u32, combine: impl Fn(u32, u32) -> u32) -> u32 {
        let (mut result, mut weight) = (0, 1);
        while a > 0 || b > 0 {
            result += weight * combine(a % self.prime, b % self.prime);
            (a, b, weight) = (a / self.prime, b / self.prime, weight * self.prime);
        }
        result
    }

    /// a * b.
    pub fn multiply(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        self.power(self.logarithms[a as usize] + self.logarithms[b as usize])
    }
}

/// A sum of two numbers below `prime`, modulo it.
#[inline(always)]
fn reduced(sum: u32, prime: u32) -> u32 {
    if sum < prime { sum } else { sum - prime }
}

/// The powers of the smallest primitive root of a prime.
fn powers_of_root(prime: u32) -> Vec<u32> {
    let cycle = |root: u32| orbit(prime - 1, 1, |power| (u64::from(power) * u64::from(root) % u64::from(prime)) as u32);
    (1..prime).find_map(cycle).expect("the multiplicative group of a prime field is cyclic")
}

/// The powers of x modulo the first polynomial that makes it primitive.
fn powers_of_x(prime: u32, exponent: u32) -> Vec<u32> {
    let order = prime.pow(exponent);
    let top = order / prime;
    // c_0 is the highest digit of the number that is counted up, so that the order is lexicographic.
    (top..order)
        .find_map(|tuple| {
            let constants: Vec<u32> = (0..exponent).rev().map(|i| tuple / prime.pow(i) % prime).collect();
            orbit(order - 1, 1, |element| times_x(element, &constants, prime, top))
        })
        .expect("every finite field has a primitive polynomial")
}

/// x times `element`, modulo x^m + Σ constants[i] x^i.
fn times_x(element: u32, constants: &[u32], prime: u32, top: u32) -> u32 {
    let (lead, mut shifted) = (element / top, element % top * prime);
    let (mut result, mut weight) = (0, 1);
    for &constant in constants {
        let taken = (u64::from(lead) * u64::from(constant) % u64::from(prime)) as u32;
        result += weight * ((shifted % prime + prime - taken) % prime);
        shifted /= prime;
        weight = weight.saturating_mul(prime);
    }
    result
}

/// The `length` elements from `first` on by `next`, if `first` comes back after exactly that many.
fn orbit(length: u32, first: u32, next: impl Fn(u32) -> u32) -> Option<Vec<u32>> {
    let mut elements = Vec::with_capacity(length as usize);
    let mut element = first;
    for step in 0..length {
        if step > 0 && element == first || element == 0 {
            return None;
        }
        elements.push(element);
        element = next(element);
    }
    (element == first).then_some(elements)
}
