//! The slate: a file that is mapped into memory, so that a note on it costs a copy and no call into the system. What was
//! copied belongs to the system, and outlives a killed process as what was written does.
#![expect(
    unsafe_code,
    reason = "no safe way leads to a mapped file; everything that is unsafe here is in this file"
)]

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering, compiler_fence};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use crate::hand::Hand;

/// The start of a range whose pages are given out has to be a multiple of this: a page of most machines, or of a larger one's.
const PAGE: usize = 1 << 16;

/// A place to append to, of a given length.
#[derive(Debug)]
pub struct Slate {
    start: NonNull<u8>,
    length: usize,
    /// How much of it is taken.
    used: AtomicUsize,
    /// Whether the file has been replaced by another.
    is_left: AtomicBool,
}

// SAFETY: the mapping belongs to the slate alone and is unmapped with it. It is never read; each of its bytes is written by the
// one thread that took it in `add`, and after that only as a whole, in `put`.
unsafe impl Send for Slate {}
// SAFETY: as above.
unsafe impl Sync for Slate {}

impl Slate {
    /// Maps a file that holds `used` bytes, with room for `room` more. All of it is written once before: so each page has its
    /// place on the disk, and one that is full says so here, in an error, and not in a signal later on.
    ///
    /// # Errors
    ///
    /// If the file cannot be written or mapped.
    pub fn over(file: &mut File, used: usize, room: usize) -> io::Result<Self> {
        let length =
            used.checked_add(room).filter(|length| *length > 0).ok_or(io::ErrorKind::InvalidInput)?;
        file.seek(SeekFrom::Start(used as u64))?;
        file.write_all(&vec![0; room])?;
        // SAFETY: a new mapping, at an address that the system chooses.
        let start = unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            mmap(ptr::null_mut(), length, access, MapFlags::SHARED, &*file, 0)?
        };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length, used: AtomicUsize::new(used), is_left: AtomicBool::new(false) })
    }

    /// How much room is left.
    pub fn left(&self) -> usize {
        self.length.saturating_sub(self.used())
    }

    /// Lets the system give out the pages of what is left now, and not one by one when they are written on.
    pub fn warm(&self) {
        let used = self.used().min(self.length);
        let from = used - used % PAGE;
        // SAFETY: the range is within the mapping, whose start is that of a page; giving out its pages changes none of its bytes.
        // A system that cannot do it gives them out when they are written on.
        let _ = unsafe {
            let start = self.start.as_ptr().add(from).cast();
            madvise(start, self.length - from, Advice::LinuxPopulateWrite)
        };
    }

    /// How much of it is taken.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Appends; gives the place of the first byte, if there was room.
    pub fn add(&self, bytes: &[u8]) -> Option<usize> {
        let place = self.take(bytes.len())?;
        // SAFETY: `take` gave `place..place + bytes.len()` to nobody else.
        unsafe { self.write(place, bytes) };
        Some(place)
    }

    /// Takes a part for one thread alone, if there is room: what it adds to it costs nothing that threads have in common. What
    /// it leaves empty stays so.
    pub(crate) fn block(self: &Arc<Self>, length: usize) -> Option<Block> {
        // Whatever comes behind it begins a line of its own, however little of it is used.
        let at = self.take(length.checked_add(1)?)?;
        let end = at + length;
        // SAFETY: this byte was taken here, and no block has it.
        unsafe { self.write(end, b"\n") };
        Some(Block { slate: Hand::of(self), at, end })
    }

    /// The file has been replaced by another: blocks of it take no more.
    pub(crate) fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    fn take(&self, length: usize) -> Option<usize> {
        let after = |used: usize| used.checked_add(length).filter(|after| *after <= self.length);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after).ok()
    }

    /// # Safety
    ///
    /// The place was taken, in this length, by whoever calls, and nobody writes there at the same time.
    unsafe fn write(&self, place: usize, bytes: &[u8]) {
        // SAFETY: what was taken is within the mapping, and is the caller's alone.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(place), bytes.len()) };
        // Whatever is done after the note is done after it: no compiler knows who reads the file.
        compiler_fence(Ordering::SeqCst);
    }

    /// Writes over one byte that was added.
    ///
    /// # Panics
    ///
    /// If nothing was added there.
    pub fn put(&self, place: usize, byte: u8) {
        assert!(place < self.used(), "nothing was added there");
        // SAFETY: the byte is within the mapping; whoever added it has done so, and others who write it do so like this.
        unsafe { AtomicU8::from_ptr(self.start.as_ptr().add(place)) }.store(byte, Ordering::Relaxed);
    }
}

/// A part of a slate that one thread has for itself.
#[derive(Debug)]
pub(crate) struct Block {
    /// Counted among those who hold places of this block.
    slate: Hand<Slate>,
    at: usize,
    end: usize,
}

impl Block {
    /// Appends; gives the place of the first byte, if there was room and the file has not been replaced.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Option<usize> {
        let (place, after) = (self.at, self.at.checked_add(bytes.len())?);
        if after > self.end || self.slate.is_left.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: `place..after` is within what was taken for this block, and is given out here once.
        unsafe { self.slate.write(place, bytes) };
        self.at = after;
        Some(place)
    }

    /// The slate of which it is a part.
    pub(crate) fn slate(&self) -> &Hand<Slate> {
        &self.slate
    }
}

impl Drop for Slate {
    fn drop(&mut self) {
        // SAFETY: nobody has it any more, and this is what was mapped.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
        debug_assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_in_the_file_at_once_and_no_more_than_there_is_room_for() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.as_file_mut().write_all(b"before").unwrap();
        let slate = Slate::over(file.as_file_mut(), 6, 5).unwrap();
        assert_eq!((slate.left(), slate.add(b"one")), (5, Some(6)));
        slate.warm();
        assert_eq!(slate.add(b"two"), None);
        assert_eq!(slate.add(b"22"), Some(9));
        assert_eq!(slate.add(b"3"), None);
        assert_eq!(slate.used(), 11);
        assert_eq!(std::fs::read(file.path()).unwrap(), b"beforeone22");
        slate.put(6, b'O');
        assert_eq!(std::fs::read(file.path()).unwrap(), b"beforeOne22");
    }

    #[test]
    fn threads_do_not_write_over_each_other() {
        let mut file = tempfile::tempfile().unwrap();
        let slate = Slate::over(&mut file, 0, 4 * 1_000 * 3).unwrap();
        std::thread::scope(|scope| {
            for word in ["one", "two", "six", "ten"] {
                scope.spawn(|| (0..1_000).for_each(|_| assert!(slate.add(word.as_bytes()).is_some())));
            }
        });
        file.seek(SeekFrom::Start(0)).unwrap();
        let text = io::read_to_string(file).unwrap();
        for word in ["one", "two", "six", "ten"] {
            assert_eq!(text.matches(word).count(), 1_000, "{word}");
        }
    }

    #[test]
    fn a_block_is_one_threads_alone_until_the_file_is_replaced() {
        let mut file = tempfile::tempfile().unwrap();
        let slate = Arc::new(Slate::over(&mut file, 0, 10).unwrap());
        let mut block = slate.block(6).unwrap();
        assert_eq!((slate.add(b"two"), block.add(b"one"), block.add(b"four")), (Some(7), Some(0), None));
        assert_eq!((block.add(b"1"), slate.block(2).is_none()), (Some(3), true));
        slate.leave();
        assert_eq!(block.add(b"1"), None);
        file.seek(SeekFrom::Start(0)).unwrap();
        assert_eq!(io::read_to_string(file).unwrap(), "one1\0\0\ntwo");
    }

    #[test]
    fn where_there_is_no_room_on_the_disk_there_is_no_slate() {
        let mut full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert_eq!(Slate::over(&mut full, 0, 1).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
