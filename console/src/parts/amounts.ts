/**
 * A decimal number as whole units of `10^-decimals`: `0.5` with 18 decimals is 5·10^17.
 * @returns undefined where the text is no such number
 */
export function unitsOf(text: string, decimals: number): string | undefined {
  const match = /^(\d{1,30})(?:\.(\d+))?$/.exec(text.trim())
  const [, whole = '', fraction = ''] = match ?? []
  if (match === null || fraction.length > decimals) return undefined
  return BigInt(whole + fraction.padEnd(decimals, '0')).toString()
}

/** Whole units of `10^-decimals` as the shortest decimal number. */
export function decimalOf(units: string, decimals: number): string {
  if (!/^\d+$/.test(units)) return units
  const text = units.padStart(decimals + 1, '0')
  const at = text.length - decimals
  const fraction = text.slice(at).replace(/0+$/, '')
  const whole = text.slice(0, at).replace(/^0+(?=\d)/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}
