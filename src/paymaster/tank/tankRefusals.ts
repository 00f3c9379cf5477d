import type { Address } from 'viem'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Refusal } from '../../errors/refusal.js'

export function noTank(chainId: number, { version }: EntryPoint): Refusal {
  return {
    code: 'NO_TANK',
    message: `The app has no gas tank on chain ${chainId} for EntryPoint ${version}. The operator makes one with purser tank deposit.`,
  }
}

export function tankNotDeployed(tank: Address): Refusal {
  return {
    code: 'TANK_NOT_DEPLOYED',
    message: `The app's gas tank ${tank} is not on the chain yet. The operator puts it there with purser tank deposit.`,
  }
}

export function tankSignerLost(tank: Address): Refusal {
  return {
    code: 'TANK_SIGNER_LOST',
    message: `The gas tank ${tank} cannot sign, because the key of its signer cannot be decrypted. The operator sees what to do with purser keys check.`,
  }
}

/** All in wei; `locked` is the sum that other live sponsorships may cost. */
export function tankEmpty(
  tank: Address,
  { deposit, locked, maxCost }: { deposit: bigint; locked: bigint; maxCost: bigint },
): Refusal {
  return {
    code: 'TANK_EMPTY',
    message: `The operation may cost ${maxCost} wei. The app's gas tank ${tank} has ${deposit} wei, of which ${locked} wei are reserved for other sponsored operations. Deposit more.`,
  }
}

export function noSharedTank(chainId: number, { version }: EntryPoint): Refusal {
  return {
    code: 'NO_TANK',
    message: `The app pays by credit, and the operator's shared gas tank does not exist on chain ${chainId} for EntryPoint ${version}. The operator makes it with purser tank deposit --shared.`,
  }
}

/** All in wei; `used` is spent, or reserved for other sponsored operations. */
export function creditEmpty({
  credited,
  used,
  maxCost,
}: {
  credited: bigint
  used: bigint
  maxCost: bigint
}): Refusal {
  return {
    code: 'CREDIT_EMPTY',
    message: `The operation may cost ${maxCost} wei. Of the app's credit of ${credited} wei, ${used} wei are spent or reserved for other sponsored operations. Buy more credit.`,
  }
}
