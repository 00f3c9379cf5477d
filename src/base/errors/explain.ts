import {
  type CatalogueRow,
  dropCodes,
  entryPointCodes,
  errorCodes,
  historyCodes,
  refusalCodes,
  requestCodes,
  ruleFamilies,
  tokenRefusalCodes,
} from './catalogue.js'

/** What a code means, who can fix it, and how. */
export type Explanation = CatalogueRow & {
  readonly code: string
  /** The page of the documents that has more. */
  readonly docs: string
}

const estimationFailed: CatalogueRow = {
  meaning: 'The operation cannot be estimated.',
  culprit: 'app',
  steps: ['Fix what eth_estimateUserOperationGas reports.'],
}

const promisedDeposit: CatalogueRow = {
  ...errorCodes[-32508],
  meaning: "The paymaster's deposit covers this operation, but not its other pending ones too.",
}

/** The chapters of docs/build/errors.md. Where two have a code of one name, the later row explains it. */
export const catalogue = [
  { title: 'JSON-RPC codes', docs: 'build/api.md', rows: errorCodes },
  { title: 'Refused requests', docs: 'build/api.md', rows: requestCodes },
  { title: 'Dropped operations', docs: 'build/api.md', rows: dropCodes },
  { title: 'History of an operation', docs: 'build/api.md', rows: historyCodes },
  { title: 'Payment in tokens', docs: 'build/tokens.md', rows: tokenRefusalCodes },
  {
    title: 'Refused sponsorships',
    docs: 'build/sponsorship.md',
    rows: { ...refusalCodes, ESTIMATION_FAILED: estimationFailed },
  },
  { title: 'EntryPoint', docs: 'build/api.md', rows: entryPointCodes },
] as const

const explanations = new Map<string, Explanation>(
  catalogue.flatMap(({ rows, docs }) =>
    Object.entries<CatalogueRow>(rows).map(([code, row]) => [code, { code, docs, ...row }]),
  ),
)

/** Every code that has an explanation; the rules of ERC-7562 are explained by their families. */
export const explainedCodes: readonly string[] = [...explanations.keys()]

const rulePattern = /^(OP|STO|COD|AUTH|EREP|SREP|GREP|UREP|LIM)-\d{3}$/

/**
 * Meaning, culprit and remedy of a code: of the EntryPoint (`AA25`), of ERC-7562 (`STO-021`), of a refusal
 * or a dropped operation (`BUDGET_EXCEEDED`), or a JSON-RPC error (`-32508`). Undefined for any other text.
 */
export function explain(code: string): Explanation | undefined {
  // Of its family only this rule is about money.
  if (code === 'EREP-010') return { code, docs: 'understand/validation.md', ...promisedDeposit }
  const family = rulePattern.exec(code)?.[1] as keyof typeof ruleFamilies | undefined
  if (family === undefined) return explanations.get(code)
  return { code, docs: 'understand/validation.md', ...ruleFamilies[family] }
}

/** The explanation of an error: its rule, where there is one, says more than its JSON-RPC code. */
export function explainError(error: {
  readonly rule: string | null
  readonly code: number
}): Explanation | undefined {
  return (error.rule === null ? undefined : explain(error.rule)) ?? explain(String(error.code))
}
