import { formatEther, formatGwei } from 'viem/utils'

type Line = Readonly<Record<string, unknown>>

/** Members of a line that say nothing to somebody who looks at a terminal. */
const hidden = new Set([
  'level',
  'time',
  'name',
  'msg',
  'pid',
  'err',
  'trace_id',
  'chainId',
  'appId',
  'decisionId',
  'bundleId',
  'executor',
  'token',
  'validAfter',
  'validUntil',
  'details',
  'sponsored',
  'limits',
  'rate',
  'markup',
  'maxCharge',
])

/** Members that are wei. */
const wei = /^(cost|maxCost|earned|charged|available|deposit|balance|value|loss|wei)$/

const marks: readonly (readonly [level: number, mark: string])[] = [
  [50, 'error'],
  [40, 'warning'],
]

/** Members that are wei per gas. */
const weiPerGas = /^max(Priority)?FeePerGas$/

/** Letters of a value that a line shows. */
const LONGEST = 160

/**
 * A line of the log for people, in place of its JSON: `15:25:20 bundle included ops 0x0dee…7bfd cost 0.00039 ETH`.
 * A line that is no JSON of ours stays as it is.
 */
export function readableLine(json: string): string {
  const line = parsed(json)
  if (line === undefined) return json
  const { level, time, msg, err } = line
  const mark = marks.find(([from]) => Number(level) >= from)?.[1]
  const clock = new Date(Number(time)).toTimeString().slice(0, 8)
  const reason = messageOf(err)
  const facts = Object.entries(line)
    .filter(([name, value]) => !hidden.has(name) && value !== null && value !== '')
    .map(([name, value]) => `${name === 'message' ? '' : `${name} `}${shown(name, value)}`)
  return [clock, mark && `${mark}:`, msg, reason && `(${reason})`, ...facts]
    .filter(Boolean)
    .join(' ')
}

function parsed(json: string): Line | undefined {
  try {
    const line: unknown = JSON.parse(json)
    return typeof line === 'object' && line !== null && 'msg' in line ? (line as Line) : undefined
  } catch {
    return undefined
  }
}

function messageOf(err: unknown): string | undefined {
  if (typeof err !== 'object' || err === null || !('message' in err)) return undefined
  return String(err.message)
}

function shown(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((each) => shown(name, each)).join(', ')
  if (typeof value === 'object' && value !== null) return JSON.stringify(value).slice(0, LONGEST)
  const text = String(value)
  if (wei.test(name) && /^\d+$/.test(text)) return `${formatEther(BigInt(text))} ETH`
  if (weiPerGas.test(name) && /^\d+$/.test(text)) return `${formatGwei(BigInt(text))} gwei`
  if (/^0x[0-9a-f]{20,}$/i.test(text)) return `${text.slice(0, 6)}…${text.slice(-4)}`
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}
