import type { Address, Hex } from 'viem'
import { sum } from '../base/bigints.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import { zeroAddress } from '../erc4337/encoding/constants.js'
import type { BookedMoney, BookedReservation } from './ledger/bookedMoney.js'
import { byPlace, type ChainCharge, type ChainMoney, gasUsedIn, sentIn } from './chainMoney.js'

/** An entry in which ledger and chain disagree. */
export type LedgerDifference = {
  readonly blockNumber: bigint | undefined
  readonly userOpHash: Hex | undefined
  readonly text: string
}

/** A balance of the ledger against the same one by the chain alone. */
export type VerifiedAccount = {
  /** `charges` and `deposit` of a tank, `tokens` that a tank took, the `credit` of an app. */
  readonly kind: 'charges' | 'deposit' | 'tokens' | 'credit'
  /** The tank's address, or the app's id. */
  readonly holder: string
  /** undefined = the chain's coin */
  readonly token: Address | undefined
  readonly entries: number
  /** Smallest units: of `deposit` what the node says, else what the ledger says. */
  readonly stated: bigint
  /** undefined = the logs alone do not say it */
  readonly derived: bigint | undefined
  readonly first: LedgerDifference | undefined
}

type LedgerFacts = {
  readonly books: BookedMoney
  readonly chain: ChainMoney
  readonly receipts: ReadonlyMap<Hex, TransactionReceipt>
  /** The blocks of the logs, and those of the entries that are compared. */
  readonly range: { readonly from: bigint; readonly kept: bigint; readonly to: bigint }
  /** wei that the EntryPoints say the tanks have, in the order of the tanks. */
  readonly deposits: readonly bigint[]
  /** Milliseconds since 1970: older entries may be deleted from the ledger. */
  readonly keptSince: number
}

/** The accounts of a chain by the ledger and by the chain, each with the first entry that differs. */
export function compareLedger(facts: LedgerFacts): VerifiedAccount[] {
  const { books, chain, range, deposits } = facts
  const nameOf = (each: { readonly entryPoint: Address; readonly tank: Address }) =>
    `${each.entryPoint} ${each.tank}`
  const paid = groupBy(chain.charges, nameOf)
  const changes = groupBy(chain.deposits, nameOf)
  const charges = groupBy(books.charges, nameOf)
  const reservations = groupBy(books.reservations, nameOf)
  const isCompared = ({ blockNumber }: { readonly blockNumber: bigint }) =>
    blockNumber >= range.kept && blockNumber <= range.to
  const ofTanks = books.tanks.flatMap(({ entryPoint, address }, at) => {
    const name = `${entryPoint} ${address}`
    const charged = paid.get(name) ?? []
    const booked = charges.get(name)?.filter(isCompared) ?? []
    const reserved = reservations.get(name)?.filter(isCompared) ?? []
    const deposit = { stated: deposits[at] ?? 0n, isWhole: range.from === 0n }
    return [
      chargesOf(address, charged.filter(isCompared), booked, reserved),
      depositOf(address, charged, changes.get(name) ?? [], deposit),
    ]
  })
  return [...ofTanks, ...tokensOf(facts), ...creditsOf(facts)]
}

type Found = { readonly blockNumber: bigint; readonly logIndex: number } & LedgerDifference

/** The operations that a tank paid. */
function chargesOf(
  holder: Address,
  charges: readonly ChainCharge[],
  booked: BookedMoney['charges'],
  reserved: readonly BookedReservation[],
): VerifiedAccount {
  const bookedByHash = new Map(booked.map((each) => [each.userOpHash, each]))
  const onChain = new Set(charges.map(({ userOpHash }) => userOpHash))
  const reservations = groupBy(reserved, ({ userOpHash }) => userOpHash)
  const found = charges.flatMap((charge): Found[] => {
    const { userOpHash, blockNumber, logIndex, cost } = charge
    const text =
      chargeTrouble(charge, bookedByHash.get(userOpHash)) ??
      reservationTrouble(cost, reservations.get(userOpHash) ?? [])
    return text === undefined ? [] : [{ blockNumber, logIndex, userOpHash, text }]
  })
  const invented = [...booked, ...reserved.map((each) => ({ ...each, logIndex: 0 }))]
    .filter(({ userOpHash, cost }) => cost > 0n && !onChain.has(userOpHash))
    .map(({ blockNumber, logIndex, userOpHash, cost }): Found => {
      const text = `${cost} wei are booked, and the chain has no such charge`
      return { blockNumber, logIndex, userOpHash, text }
    })
  return {
    kind: 'charges',
    holder,
    token: undefined,
    entries: charges.length,
    stated: sum(booked.map(({ cost }) => cost)),
    derived: sum(charges.map(({ cost }) => cost)),
    first: firstOf([...found, ...invented]),
  }
}

function chargeTrouble(
  charge: ChainCharge,
  booked: BookedMoney['charges'][number] | undefined,
): string | undefined {
  if (booked === undefined) return `the chain charged ${charge.cost} wei, and nothing is booked`
  if (booked.cost !== charge.cost)
    return `${booked.cost} wei are booked, and the chain charged ${charge.cost}`
  if (booked.transactionHash !== charge.transactionHash)
    return `transaction ${booked.transactionHash} is booked, and it was in ${charge.transactionHash}`
  if (booked.success !== charge.success)
    return `its call is booked as ${booked.success ? 'successful' : 'failed'}, and was not`
  return undefined
}

/** Several apps may have sponsored one operation of a tank that they share: together they pay for it once. */
function reservationTrouble(
  cost: bigint,
  reservations: readonly BookedReservation[],
): string | undefined {
  const wrong = reservations.find((each) => each.charged !== null && each.charged !== each.cost)
  if (wrong !== undefined)
    return `${wrong.charged} wei were charged for reservation ${wrong.id}, which cost ${wrong.cost}`
  const paid = sum(reservations.map((each) => each.cost + each.rebate))
  if (reservations.length === 0 || paid === cost) return undefined
  const [largest] = reservations.toSorted((a, b) => Number(b.cost - a.cost))
  return `reservation ${largest?.id} paid ${paid} wei with its rebate, and the chain charged ${cost}`
}

/**
 * A tank's deposit by its logs. A deposit's log has the new total, not the amount. Inside a bundle in which the tank
 * pays, that total lacks prefunds that no log shows, so the next deposit says where the balance goes on.
 */
function depositOf(
  holder: Address,
  charges: readonly ChainCharge[],
  changes: ChainMoney['deposits'],
  { stated, isWhole }: { readonly stated: bigint; readonly isWhole: boolean },
): VerifiedAccount {
  const bundles = new Set(charges.map(({ transactionHash }) => transactionHash))
  const isUntouched = changes.length + charges.length === 0 && stated === 0n
  let balance: bigint | undefined = isWhole || isUntouched ? 0n : undefined
  let first: LedgerDifference | undefined
  const differ = (blockNumber: bigint | undefined, text: string) => {
    first ??= { blockNumber, userOpHash: undefined, text }
  }
  for (const change of [...charges, ...changes].sort(byPlace)) {
    if (!('kind' in change)) balance = balance === undefined ? undefined : balance - change.cost
    else if (change.kind === 'withdrawn')
      balance = balance === undefined ? undefined : balance - change.amount
    else if (bundles.has(change.transactionHash)) balance = undefined
    else {
      if (balance !== undefined && change.total < balance)
        differ(
          change.blockNumber,
          `a deposit left ${change.total} wei, less than the ${balance} before it`,
        )
      balance = change.total
    }
  }
  if (balance !== undefined && balance !== stated)
    differ(undefined, `the logs leave ${balance} wei, and the EntryPoint has ${stated}`)
  const [token, entries] = [undefined, changes.length]
  return { kind: 'deposit', holder, token, entries, stated, derived: balance, first }
}

/** The tokens that tanks took. A tank that reports none got what was sent to it beforehand, or nothing. */
function tokensOf({ books, chain, receipts, range }: LedgerFacts): VerifiedAccount[] {
  const paid = new Map(chain.charges.map((each) => [each.userOpHash, each]))
  const booked = new Set(books.payments.map(({ userOpHash }) => userOpHash))
  const missing = chain.charges.flatMap(({ userOpHash, blockNumber, tank }) => {
    const token = chain.payments.get(userOpHash)?.token
    const isMissing = !booked.has(userOpHash) && blockNumber <= range.to
    return token !== undefined && isMissing
      ? [{ userOpHash, blockNumber, tank, token, charged: 0n, cost: 0n }]
      : []
  })
  const payments = books.payments.filter(({ blockNumber }) => blockNumber >= range.from)
  const accounts = groupBy([...payments, ...missing], ({ tank, token }) => `${tank} ${token}`)
  return [...accounts.values()].flatMap((entries) => {
    const [one] = entries
    if (one === undefined) return []
    const { tank, token } = one
    const found: Found[] = []
    let derived = 0n
    for (const { userOpHash, charged, cost, blockNumber } of entries) {
      const charge = paid.get(userOpHash)
      const receipt = charge && receipts.get(charge.transactionHash)
      const stated = chain.payments.get(userOpHash)
      const units =
        stated?.charged ?? (receipt && sentIn(receipt, token, charge.sender, tank)) ?? 0n
      const wei = stated?.cost ?? charge?.cost ?? 0n
      derived += units
      const text =
        charge === undefined || charge.tank !== tank || (stated && stated.token !== token)
          ? `${charged} units are booked, and the chain has no such payment`
          : units !== charged
            ? `${charged} units are booked, and the tank took ${units}`
            : wei !== cost
              ? `${cost} wei are booked as its cost, and it was ${wei}`
              : undefined
      const logIndex = charge?.logIndex ?? 0
      if (text !== undefined) found.push({ blockNumber, logIndex, userOpHash, text })
    }
    const stated = sum(entries.map(({ charged }) => charged))
    const first = firstOf(found)
    return {
      kind: 'tokens' as const,
      holder: tank,
      token,
      entries: entries.length,
      stated,
      derived,
      first,
    }
  })
}

/**
 * The credit of apps: what was credited, less what their operations cost. Entries older than `keptSince` are deleted
 * from the ledger and stay in its sum, which can then only be larger.
 */
function creditsOf({ books, chain, receipts, range, keptSince }: LedgerFacts): VerifiedAccount[] {
  const nameOf = ({ tank, userOpHash }: Pick<BookedReservation, 'tank' | 'userOpHash'>) =>
    `${tank} ${userOpHash}`
  const charges = new Map(chain.charges.map((each) => [nameOf(each), each]))
  const paidFor = new Set(
    books.reservations.flatMap((each) => (each.cost > 0n ? nameOf(each) : [])),
  )
  const costOf = (each: BookedReservation): bigint => {
    // A reservation that paid nothing is compared with the tank's charge among those that did. So is one without a tank
    // where that of another app paid for the same operation.
    if (each.cost === 0n && (each.tank !== zeroAddress || paidFor.has(nameOf(each)))) return 0n
    const charge =
      each.tank === zeroAddress ? unpaidCost(each, receipts) : charges.get(nameOf(each))?.cost
    return charge === undefined ? each.cost : charge - each.rebate
  }
  const ofFunds = groupBy(books.reservations, ({ fundId }) => fundId ?? '')
  return books.credits.map((credit) => {
    const entries = ofFunds.get(credit.id) ?? []
    const found = entries.flatMap((each): Found[] => {
      const { blockNumber, userOpHash, id, cost } = each
      const derived = costOf(each)
      const isSame = derived === cost || blockNumber < range.kept
      const text = `reservation ${id} cost ${cost} wei, and by the chain ${derived}`
      return isSame ? [] : [{ blockNumber, logIndex: 0, userOpHash, text }]
    })
    const spent = credit.taken + sum(entries.map(costOf))
    const isWhole = credit.createdAt.getTime() > keptSince
    const isSum = isWhole ? credit.settled === spent : credit.settled >= spent
    const total = (text: string) => ({ blockNumber: undefined, userOpHash: undefined, text })
    return {
      kind: 'credit' as const,
      holder: credit.appId,
      token: undefined,
      entries: entries.length,
      stated: credit.credited - credit.settled,
      derived: isWhole ? credit.added - spent : undefined,
      first:
        firstOf(found) ??
        (credit.credited !== credit.added
          ? total(`${credit.credited} wei are credited, and the entries add up to ${credit.added}`)
          : isSum
            ? undefined
            : total(`${credit.settled} wei count as spent, and the entries add up to ${spent}`)),
    }
  })
}

/** The cost of an operation without fees: its gas at its bundle's price. undefined = no bundle of ours, or no grant left. */
function unpaidCost(
  { transactionHash, userOpHash, granted }: BookedReservation,
  receipts: ReadonlyMap<Hex, TransactionReceipt>,
): bigint | undefined {
  if (transactionHash === null) return 0n
  const receipt = receipts.get(transactionHash)
  const gas = receipt && gasUsedIn(receipt, userOpHash)
  if (gas === undefined || granted === null) return undefined
  const price = receipt!.effectiveGasPrice
  return gas * (price < granted ? price : granted)
}

function firstOf(found: readonly Found[]): LedgerDifference | undefined {
  const [first] = found.toSorted(byPlace)
  return first && { blockNumber: first.blockNumber, userOpHash: first.userOpHash, text: first.text }
}

function groupBy<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(nameOf(item))
    if (group) group.push(item)
    else groups.set(nameOf(item), [item])
  }
  return groups
}
