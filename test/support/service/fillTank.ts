import type { Address } from 'viem'
import { type commandsOn, labelled } from './cliAnswers.js'

/** Pays 10 ether into the app's tank, which the deposit makes, with the key in `OWNER_KEY`. @returns the tank */
export async function fillTank(
  { answer }: Pick<ReturnType<typeof commandsOn>, 'answer'>,
  appId: string,
  chainId: number,
  kind: 'gas' | 'token' = 'gas',
): Promise<Address> {
  const target = ['--app', appId, '--chain', String(chainId), '--kind', kind]
  const money = ['--amount', '10', '--key', 'env:OWNER_KEY']
  const filled = await answer('tank', 'deposit', ...target, ...money)
  return labelled(filled, 'tank').toLowerCase() as Address
}
