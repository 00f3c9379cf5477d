import type { dropCodes } from '../base/errors/catalogue.js'
import type { AaCode } from '../erc4337/entryPoint.js'

/** An identifier of ERC-7562: `OP-011`, `GREP-010`. */
type RuleCode = `${'AUTH' | 'COD' | 'EREP' | 'GREP' | 'LIM' | 'OP' | 'STO'}-${number}`

/** The code with which an operation left the pool: ours, the EntryPoint's, or the rule that it broke. */
export type DropCode = keyof typeof dropCodes | AaCode | RuleCode
