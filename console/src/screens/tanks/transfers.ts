import type { Tank, TankStep } from '../../api/shapes.js'

/** A call that moves the money of a tank, as data of a transaction. */
export type Transfer = {
  readonly to: string
  readonly data: string
  /** wei */
  readonly value: bigint
}

/** Selector of `depositTo(address)` of every EntryPoint. */
const DEPOSIT_TO = '0xb760faf9'
/** Selector of `withdrawTo(address,uint256)` of our tanks. */
const WITHDRAW_TO = '0x205c2878'

/** Selector of `create(address,address,address,address,address,bytes32)` of TankFactory. */
const CREATE = '0x268085f0'
/** The deterministic deployer: what it places is known by its address. */
const DEPLOYER = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

/**
 * A step that puts a tank on the chain, as a wallet sends it. The service makes its bytes, so the console looks whether
 * it is what it claims to be: code by the deterministic deployer, or the creation of a tank of this owner. Nothing of
 * that moves money, whatever contract it goes to. Throws for anything else.
 */
export function creationStep(
  { puts, to, data }: Pick<TankStep, 'puts' | 'to' | 'data'>,
  owner: string,
): Transfer {
  const isCreation = data.startsWith(CREATE) && data.includes(addressWord(owner), CREATE.length)
  const isCode = to.toLowerCase() === DEPLOYER
  if (puts === 'tank' ? !isCreation : !isCode)
    throw new Error('The service asks for a transaction that makes no tank: nothing was sent.')
  return { to, data, value: 0n }
}

/** Pays wei into the deposit of a tank; anybody may. */
export function depositInto(tank: Pick<Tank, 'address' | 'entryPoint'>, wei: bigint): Transfer {
  return { to: tank.entryPoint, data: `${DEPOSIT_TO}${addressWord(tank.address)}`, value: wei }
}

/** Takes wei of the deposit out to an address; only the owner may. */
export function withdrawFrom(tank: Pick<Tank, 'address'>, to: string, wei: bigint): Transfer {
  const data = `${WITHDRAW_TO}${addressWord(to)}${word(wei.toString(16))}`
  return { to: tank.address, data, value: 0n }
}

function word(hex: string): string {
  return hex.padStart(64, '0')
}

function addressWord(address: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new Error(`${address} is no address.`)
  return word(address.slice(2).toLowerCase())
}
