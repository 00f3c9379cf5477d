/**
 * The number in a text like `1850.25`, with 18 decimals; undefined when it is no positive decimal
 * number.
 */
export function parseFixed18(text: string): bigint | undefined {
  if (!/^\d{1,30}(\.\d{1,18})?$/.test(text)) return undefined
  const [whole = '0', fraction = ''] = text.split('.')
  const value = BigInt(whole + fraction.padEnd(18, '0'))
  return value > 0n ? value : undefined
}
