/** The part of an installation that a finding is about. */
type CheckGroup =
  | 'configuration'
  | 'database'
  | 'keys'
  | 'nodes'
  | 'contracts'
  | 'money'
  | 'prices'
  | 'webhooks'
  | 'sign-in'

/** One thing that was looked at. */
export type Finding = {
  readonly group: CheckGroup
  /** Absent where it concerns no single chain. */
  readonly chainId?: number | undefined
  /** `warning`: the service works, and the operator should know. `fault`: something does not work. */
  readonly level: 'ok' | 'warning' | 'fault'
  /** One sentence without its full stop; never a secret, a key or the path of a node's URL. */
  readonly text: string
  /** The operator's next step; absent where there is nothing to do. */
  readonly remedy?: string
}

/** Makes the findings of one group, of one chain or of the whole installation. */
export type Reporter = {
  ok(text: string): Finding
  warning(text: string, remedy: string): Finding
  fault(text: string, remedy: string): Finding
}

export function reporterOf(group: CheckGroup, chainId?: number): Reporter {
  const place = { group, ...(chainId !== undefined && { chainId }) }
  return {
    ok: (text) => ({ ...place, level: 'ok', text }),
    warning: (text, remedy) => ({ ...place, level: 'warning', text, remedy }),
    fault: (text, remedy) => ({ ...place, level: 'fault', text, remedy }),
  }
}

/** The words of an error, of its cause where that is nearer to the trouble; one line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed without a reason'
  const { cause, message } = error
  const nearest = cause instanceof Error ? cause : error
  const { code } = nearest as { code?: unknown }
  const words = nearest.message || (typeof code === 'string' ? code : '') || message
  return (words.split('\n')[0] ?? '').trim().replace(/\.$/, '') || 'it does not answer'
}

const marks = { ok: 'ok   ', warning: 'WARN ', fault: 'FAULT' } as const

/** Prints findings and how many there are; the process ends with 1 where one is a fault. */
export function printFindings(findings: readonly Finding[], asJson: boolean): void {
  const isSound = findings.every(({ level }) => level !== 'fault')
  if (asJson) console.log(JSON.stringify({ ok: isSound, findings }, null, 2))
  else for (const finding of findings) console.log(lineOf(finding))
  if (!asJson) console.log(summaryOf(findings))
  if (!isSound) process.exitCode = 1
}

function lineOf({ level, group, chainId, text, remedy }: Finding): string {
  const place = chainId === undefined ? group : `${group} ${chainId}`
  return `${marks[level]}  ${place}: ${text}${remedy === undefined ? '' : ` → ${remedy}`}`
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (level: Finding['level']) => findings.filter((each) => each.level === level).length
  return `${count('fault')} faults, ${count('warning')} warnings, ${count('ok')} ok`
}
