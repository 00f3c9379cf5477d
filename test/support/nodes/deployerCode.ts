import type { Hex } from 'viem'

/** The runtime code of the deterministic deployer, for nodes that do not begin with it. */
export const DEPLOYER_CODE: Hex =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3'
