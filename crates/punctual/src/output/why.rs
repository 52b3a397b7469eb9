//! An explanation on the screen.

use punctual::Failure;
use punctual::shape::Why;

use super::Output;
use super::prose::hung;

/// Where the text of a link begins.
const INDENT: usize = 14;

/// Shows the chain.
pub(crate) fn show(output: &Output, why: &Why) -> Result<(), Failure> {
    output.write(why, || hung(&why.to_string(), INDENT))
}
