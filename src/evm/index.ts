/** The in-process EVM: pure and synchronous. State that is unknown is reported, never fetched. */
export { authorityOf, type EvmAuthorization } from './authorization.js'
export type { BlockEnv } from './block.js'
export { fromHex, toHex } from './bytes/hex.js'
export { keccak } from './bytes/keccak.js'
export { encodeRlp, integerBytes, type RlpItem } from './bytes/rlp.js'
export { call, type EvmMessage } from './call.js'
export { create2Address, createAddress } from './createAddress.js'
export { type Fork, forks, includesFork, rulesByFork } from './forks.js'
export { WARM_ACCESS } from './gasCosts.js'
export { type AccessList, type IntrinsicGas, intrinsicGas } from './intrinsicGas.js'
export { isAssigned } from './machine/instructions.js'
export type { EvmContext, EvmLog } from './machine/machine.js'
export {
  type CodeAccess,
  type ExecutionRecord,
  type FrameDetail,
  type FrameKind,
  type FrameRecord,
  noteOpcode,
  opcodesOf,
  type Preimage,
  usesOpcode,
} from './machine/record.js'
export type { FrameError } from './machine/signal.js'
export type { InspectedCall, InspectedEnd, Inspector } from './machine/inspector.js'
export type { CallResult, Outcome } from './outcome.js'
export { type Precompile, precompilesOf } from './precompiles/index.js'
export { p256VerifyRip7212 } from './precompiles/p256Verify.js'
export { recoverKey } from './precompiles/recoverKey.js'
export { codeHash, emptyCodeHash } from './state/code.js'
export {
  type AccountState,
  type EvmAccountOverride,
  type Miss,
  type Overrides,
  overlay,
  type State,
  type Touched,
  trackBlock,
  trackState,
} from './state/state.js'
export type { OnMiss } from './state/world.js'
