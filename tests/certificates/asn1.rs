//! Writes valid and invalid DER.

use crate::random::Random;

pub const INTEGER: u8 = 2;
pub const BIT_STRING: u8 = 3;
pub const OCTET_STRING: u8 = 4;
pub const NULL: &[u8] = &[5, 0];
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;

/// Encodes an element.
pub fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    let digits: Vec<u8> = length
        .to_be_bytes()
        .into_iter()
        .skip_while(|byte| *byte == 0)
        .collect();
    if length < 0x80 {
        out.push(u8::try_from(length).unwrap());
    } else {
        out.push(0x80 | u8::try_from(digits.len()).unwrap());
        out.extend(digits);
    }
    out.extend(content);
    out
}

/// Encodes a sequence.
pub fn sequence<P: AsRef<[u8]>>(children: &[P]) -> Vec<u8> {
    let children: Vec<&[u8]> = children.iter().map(AsRef::as_ref).collect();
    element(SEQUENCE, &children.concat())
}

/// Encodes an integer.
pub fn integer(number: i64) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let sign = if number < 0 { 0xff } else { 0 };
    let mut start = 0;
    while start < 7 && bytes[start] == sign && (bytes[start + 1] ^ sign) & 0x80 == 0 {
        start += 1;
    }
    element(INTEGER, &bytes[start..])
}

/// Encodes an object identifier, given in dotted notation.
pub fn oid(dotted: &str) -> Vec<u8> {
    let mut arcs: Vec<u64> = dotted.split('.').map(|arc| arc.parse().unwrap()).collect();
    let first = arcs.remove(0);
    arcs[0] += first * 40;
    let mut content = Vec::new();
    for arc in arcs {
        let digits = (64 - arc.max(1).leading_zeros()).div_ceil(7);
        for place in (0..digits).rev() {
            let more = if place > 0 { 0x80 } else { 0 };
            content.push(u8::try_from(arc >> (7 * place) & 0x7f).unwrap() | more);
        }
    }
    element(6, &content)
}

/// Encodes a bit string without unused bits.
pub fn bits(bytes: &[u8]) -> Vec<u8> {
    element(BIT_STRING, &[&[0], bytes].concat())
}

/// An element with its children, if its content looks like elements.
#[derive(Clone)]
struct Node {
    tag: u8,
    /// Encoded length, if it is wrong.
    length: Option<Vec<u8>>,
    /// Content before the children, or the whole content if there are none.
    front: Vec<u8>,
    children: Vec<Node>,
}

impl Node {
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (&[tag, first], rest) = bytes.split_first_chunk::<2>()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f).min(4))?;
            let length = digits
                .iter()
                .fold(0, |length, byte| length << 8 | usize::from(*byte));
            (length, rest)
        };
        let (content, rest) = rest.split_at_checked(length)?;
        let padding = usize::from(tag == BIT_STRING && !content.is_empty());
        let holds =
            tag & 0x20 != 0 || matches!(tag, BIT_STRING | OCTET_STRING) && content.len() > 4;
        let children = if holds {
            Self::read_all(&content[padding..])
        } else {
            None
        };
        let front = match children {
            Some(_) => content[..padding].to_vec(),
            None => content.to_vec(),
        };
        let children = children.unwrap_or_default();
        Some((
            Self {
                tag,
                length: None,
                front,
                children,
            },
            rest,
        ))
    }

    fn read_all(mut bytes: &[u8]) -> Option<Vec<Self>> {
        let mut all = Vec::new();
        while !bytes.is_empty() {
            let (node, rest) = Self::read(bytes)?;
            all.push(node);
            bytes = rest;
        }
        Some(all)
    }

    fn write(&self) -> Vec<u8> {
        let mut content = self.front.clone();
        for part in &self.children {
            content.extend(part.write());
        }
        match &self.length {
            None => element(self.tag, &content),
            Some(length) => [&[self.tag], &**length, &content].concat(),
        }
    }

    fn count(&self) -> usize {
        1 + self.children.iter().map(Self::count).sum::<usize>()
    }

    /// Applies a mutation to the element with an index in pre-order.
    fn spoil(&mut self, random: &mut Random, mut at: usize) {
        if at == 0 {
            self.spoil_here(random);
            return;
        }
        at -= 1;
        for place in 0..self.children.len() {
            let count = self.children[place].count();
            if at >= count {
                at -= count;
                continue;
            }
            // elements with siblings may also be removed, duplicated or swapped
            match (at, random.less_than(10)) {
                (0, 0) => drop(self.children.remove(place)),
                (0, 1) => self.children.insert(place, self.children[place].clone()),
                (0, 2) => {
                    let other = random.less_than(self.children.len());
                    self.children.swap(place, other);
                }
                (0, 3) => {
                    let odd = [
                        NULL,
                        &[2, 1, 7],
                        &[4, 0],
                        &[0x30, 0],
                        &[0xa0, 0],
                        &[7, 0],
                        &[0x1f, 1, 0],
                    ];
                    let odd = Self::raw(*random.pick(&odd));
                    self.children.insert(place, odd);
                }
                _ => self.children[place].spoil(random, at),
            }
            return;
        }
    }

    /// Returns an element with the given bytes.
    fn raw(bytes: &[u8]) -> Self {
        let length = Some(bytes[1..].to_vec());
        Self {
            tag: bytes[0],
            length,
            front: Vec::new(),
            children: Vec::new(),
        }
    }

    fn spoil_here(&mut self, random: &mut Random) {
        const TAGS: &[u8] = &[
            1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13, 18, 19, 20, 21, 22, 23, 24, 26, 27, 28, 30, 0x1f,
            0x30, 0x31, 0x80, 0x81, 0x82, 0x83, 0x86, 0x87, 0xa0, 0xa1, 0xa3, 0xbf, 0xff, 0x24,
            0x23, 0,
        ];
        let mut content = self.front.clone();
        for part in &self.children {
            content.extend(part.write());
        }
        let right = element(self.tag, &content);
        let digits = &right[1..right.len() - content.len()];
        match random.less_than(14) {
            0 | 1 => {
                self.tag = *random.pick(TAGS);
                return;
            }
            2 if !content.is_empty() => {
                let at = random.less_than(content.len());
                content[at] ^= 1 << random.less_than(8);
            }
            3 if !content.is_empty() => content[0] ^= 1 << random.less_than(8),
            4 if !content.is_empty() => drop(content.pop()),
            5 => content.push(u8::try_from(random.less_than(256)).unwrap()),
            6 => content.insert(0, *random.pick(&[0, 0xff, 0x80, 1])),
            7 => content.clear(),
            8 => content = vec![0x41; *random.pick(&[1, 2, 4, 16, 20, 33, 127, 128])],
            // lengths: not the shortest encoding, too large, too small, indefinite, far too large
            9 => {
                self.length =
                    Some([&[0x80 | u8::try_from(digits.len()).unwrap(), 0], digits].concat());
            }
            10 if content.len() < 0x7f => self.length = Some(vec![digits[0] + 1]),
            11 if (1..0x80).contains(&content.len()) => self.length = Some(vec![digits[0] - 1]),
            12 => self.length = Some(vec![0x80]),
            13 => self.length = Some(vec![0x84, 0x7f, 0xff, 0xff, 0xff]),
            _ => content.extend([5, 0]),
        }
        self.front = content;
        self.children.clear();
    }
}

/// Applies mutations to DER.
pub fn spoil(random: &mut Random, bytes: &[u8], mistakes: usize) -> Vec<u8> {
    let Some((mut node, _)) = Node::read(bytes) else {
        return bytes.to_vec();
    };
    for _ in 0..mistakes {
        let at = random.less_than(node.count());
        node.spoil(random, at);
    }
    node.write()
}
