import { readFileSync } from 'node:fs'

type Wei = string

/** Figures that other clients recorded on rollups or test their own formulas with; each names its source. */
export type RollupVectors = {
  readonly fastlz: readonly {
    readonly hex?: string
    readonly repeat?: string
    readonly times?: number
    readonly length: number
  }[]
  readonly opEcotone: readonly OpVector[]
  readonly opFjord: readonly OpVector[]
  readonly operatorFee: readonly {
    readonly rule: 'isthmus' | 'jovian'
    readonly gas: number
    readonly scalar: number
    readonly constant: Wei
    readonly fee: Wei
  }[]
  readonly scrollGalileo: readonly {
    readonly compressed: number
    readonly l1BaseFee: Wei
    readonly l1BlobBaseFee: Wei
    readonly execScalar: Wei
    readonly blobScalar: Wei
    readonly penaltyFactor: Wei
    readonly fee: Wei
  }[]
}

/** A transaction's L1 fee: of its bytes, of its length after FastLZ, or of the least size. */
export type OpVector = {
  readonly raw?: string
  readonly fastlz?: number
  readonly minimumSize?: boolean
  readonly l1BaseFee: Wei
  readonly blobBaseFee: Wei
  readonly baseFeeScalar: number
  readonly blobBaseFeeScalar: number
  readonly l1GasUsed?: number
  readonly l1Fee: Wei
  readonly gasUsed?: number
  readonly operatorFeeScalar?: number
  readonly operatorFeeConstant?: number
  readonly operatorFee?: Wei
  readonly rule?: 'isthmus' | 'jovian'
  readonly source: string
}

const file = new URL('rollups.json', import.meta.url)

export const rollupVectors = JSON.parse(readFileSync(file, 'utf8')) as RollupVectors
