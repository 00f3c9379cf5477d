/**
 * The nodes on which tests can run: `hardhat-op` is Hardhat's node as a chain of the OP stack, `amsterdam` is geth that
 * changes to the rules of Amsterdam soon after its start, `bogota` geth by the rules that follow, from its first block.
 */
const kinds = ['anvil', 'hardhat', 'hardhat-op', 'geth', 'amsterdam', 'bogota'] as const

export type NodeKind = (typeof kinds)[number]

/** The node that this run of tests uses wherever a test does not name one; see `npm run test:nodes`. */
export function nodeKind(): NodeKind {
  const wanted = process.env.PURSER_TEST_NODE ?? 'anvil'
  const kind = kinds.find((each) => each === wanted)
  if (kind === undefined) throw new Error(`PURSER_TEST_NODE is none of ${kinds.join(', ')}.`)
  return kind
}
