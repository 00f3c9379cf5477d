import { decimalOf } from './amounts.js'

const WEI = 10n ** 18n
/** Digits of an amount that are shown; the exact one is in its title. */
const DIGITS = 6

/** Wei as ether with six significant digits: `0.000041`, `1.204`, `12`. */
export function etherOf(wei: string): string {
  const amount = BigInt(wei)
  const whole = amount / WEI
  const fraction = String(amount % WEI).padStart(18, '0')
  const zeros = whole > 0n ? -String(whole).length : (/^0*/.exec(fraction)?.[0].length ?? 0)
  const shown = fraction.slice(0, Math.max(0, zeros + DIGITS)).replace(/0+$/, '')
  return shown === '' ? grouped(whole) : `${grouped(whole)}.${shown}`
}

/** Wei as ether with three significant digits, which line up below each other: `0.000281`, `1.20`, `1,234`. */
export function tidyOf(wei: string): string {
  const digits = wei.padStart(19, '0')
  const whole = digits.slice(0, -18)
  if (BigInt(wei) === 0n) return '0'
  const length = String(BigInt(whole)).length
  const zeros = /^0*/.exec(digits.slice(whole.length))?.[0].length ?? 0
  const places = BigInt(whole) > 0n ? Math.max(0, 3 - length) : zeros + 3
  if (places >= 18) return decimalOf(wei, 18)
  const unit = 10n ** BigInt(18 - places)
  const rounded = String((BigInt(wei) + unit / 2n) / unit).padStart(places + 1, '0')
  const at = rounded.length - places
  return places === 0 ? grouped(rounded) : `${grouped(rounded.slice(0, at))}.${rounded.slice(at)}`
}

/** An amount of USD: `$1,204`, `$3.20`, `< $0.01`. */
export function usdText(usd: number): string {
  if (usd > 0 && usd < 0.01) return '< $0.01'
  return `$${usd < 1_000 ? usd.toFixed(2) : grouped(Math.round(usd))}`
}

/** A value against the one of the period before: `+12 %`; empty where there was nothing before. */
export function changeOf(value: number, before: number): string {
  if (before === 0) return ''
  const percent = Math.round((value / before - 1) * 100)
  return `${percent < 0 ? '−' : '+'}${grouped(Math.abs(percent))} % to before`
}

/** A number with thin groups of three. */
export function grouped(value: bigint | number | string): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

/** A sentence of the service with its amounts of wei in groups of three, and its times as those of this machine. */
export function plainly(text: string): string {
  return text
    .replace(/\b\d{4,}(?= (?:wei|is needed)\b)/g, grouped)
    .replace(/(?<=GasLimit (?:of|was) )\d{4,}/g, grouped)
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, momentOf)
}

/** `0x1234…abcd` */
export function shortOf(hex: string): string {
  return hex.length <= 14 ? hex : `${hex.slice(0, 6)}…${hex.slice(-4)}`
}

const steps = [
  [1, 'ms'],
  [1_000, 's'],
  [60_000, 'min'],
  [3_600_000, 'h'],
  [86_400_000, 'd'],
] as const

/** A time span in its largest fitting unit: `240 ms`, `3.1 s`, `12 min`. */
export function spanOf(milliseconds: number): string {
  const [size, unit] = steps.findLast(([each]) => milliseconds >= each) ?? steps[0]
  const value = milliseconds / size
  return `${unit === 's' && value < 10 ? value.toFixed(1) : Math.floor(value)} ${unit}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

function clock(date: Date): string {
  return `${two(date.getHours())}:${two(date.getMinutes())}`
}

/** Clock time with milliseconds, as logs have it. */
export function clockOf(time: string): string {
  const date = new Date(time)
  const milliseconds = String(date.getMilliseconds()).padStart(3, '0')
  return `${clock(date)}:${two(date.getSeconds())}.${milliseconds}`
}

/** A moment in the time of the machine, `2026-11-23 08:01:35`: not by Intl, whose first use takes longer than a screen. */
export function momentOf(time: string | number): string {
  const date = new Date(time)
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${clock(date)}:${two(date.getSeconds())}`
}

/** A time on an axis: `08:01`, or with its day, `11-23 08:01`. */
export function tickOf(date: Date, isOfDays: boolean): string {
  return isOfDays
    ? `${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(date)}`
    : clock(date)
}

/** The share of `part` in `whole`, in percent. */
export function percentOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 1_000n) / whole) / 10
}

/** A number of bytes: `812 B`, `40 kB`, `1.2 MB`. */
export function bytesOf(count: string): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const value = Number(count)
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3))
  const shown = value / 1_000 ** power
  return `${power > 0 && shown < 10 ? shown.toFixed(1) : Math.floor(shown)} ${units[power]}`
}

/** A time as a field of type `datetime-local` has it, in the time zone of the browser; '' where there is none. */
export function localTextOf(time: string | number | null | undefined): string {
  const date = new Date(time ?? Number.NaN)
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return Number.isNaN(local.getTime()) ? '' : local.toISOString().slice(0, 16)
}
