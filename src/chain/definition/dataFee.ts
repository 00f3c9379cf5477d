/**
 * The ways in which a chain charges for the bytes of a transaction beside its execution:
 * - `none`: not at all, or within the gas of calldata;
 * - `opStack`: the OP stack, in wei from L1's prices, with its operator fee;
 * - `opStackTokenRatio`: the same in a coin of the chain's own, by the ratio of prices (Mantle);
 * - `arbitrum`: as gas of the transaction (Nitro);
 * - `scroll`: in wei from L1's prices, growing with the square of the size.
 */
export const dataFeeKinds = ['none', 'opStack', 'opStackTokenRatio', 'arbitrum', 'scroll'] as const

export type DataFeeKind = (typeof dataFeeKinds)[number]
