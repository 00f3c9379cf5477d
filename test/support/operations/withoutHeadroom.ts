/**
 * What was measured of an estimate's verificationGasLimit (gas), before room was added for the real
 * signature; for dummy signatures of one signer.
 */
export function withoutHeadroom(limit: bigint): bigint {
  const proportional = (limit * 100n + 114n) / 115n
  return limit - proportional > 10_000n ? proportional : limit - 10_000n
}
