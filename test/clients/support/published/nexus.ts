import {
  type AbiParameter,
  type Address,
  concatHex,
  encodeAbiParameters,
  type Hex,
  http,
  parseAbiParameters,
} from 'viem'
import { entryPoint07Address, type SmartAccount } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { ownerOf } from '../accountFamily.js'
import { type CheckoutName, readCheckout } from './checkouts.js'
import { placePublished } from './placePublished.js'
import { deterministicDeployer, type PublishedContract } from './publishedContract.js'
import type { PublishedFamily } from './publishedFamily.js'

type MeeVersion = Readonly<
  Record<
    'factoryAddress' | 'bootStrapAddress' | 'implementationAddress' | 'validatorAddress',
    Address
  >
>

/** What is used of @biconomy/abstractjs, whose types do not fit TypeScript's strict checks. */
type Abstractjs = {
  getMEEVersion(version: string): MeeVersion
  toNexusAccount(options: object): Promise<SmartAccount>
}

const name: string = '@biconomy/abstractjs'
const { getMEEVersion, toNexusAccount } = (await import(/* @vite-ignore */ name)) as Abstractjs
const mee = getMEEVersion('2.0.0')

/** The owner of the default validator in implementation and bootstrap themselves: nobody. */
const NOBODY: Hex = `0x${'ee'.repeat(20)}`
const FACTORY_OWNER: Address = '0x129443cA2a9Dec2020808a2868b38dDA457eaCC7'

/** A contract as the script of its repository creates it, with the repository's creation code and salt. */
function contract(
  [checkout, script]: readonly [CheckoutName, script: string],
  [name, salt]: readonly [name: string, salt: string],
  address: Address,
  [parameters, args]: readonly [readonly AbiParameter[], readonly unknown[]],
): PublishedContract {
  const path = `scripts/bash-deploy/artifacts/${name}/${name}.json`
  const { bytecode } = JSON.parse(readCheckout(checkout, path)) as { bytecode: { object: Hex } }
  const [, bytes] =
    new RegExp(`bytes32 constant ${salt} = (0x[0-9a-f]{64});`).exec(
      readCheckout(checkout, script),
    ) ?? []
  if (bytes === undefined) throw new Error(`${script} has no ${salt}.`)
  const data = concatHex([bytes as Hex, bytecode.object, encodeAbiParameters(parameters, args)])
  const origin = { deployer: deterministicDeployer, data }
  return { name, address, client: JSON.stringify(mee), origin }
}

function contracts(): readonly PublishedContract[] {
  const { validatorAddress, implementationAddress } = mee
  const ofNexus = ['nexus', 'scripts/foundry/DeployNexus.s.sol'] as const
  return [
    contract(
      ['mee-contracts', 'scripts/foundry/DeployK1Mee.sol'],
      ['K1MeeValidator', 'MEE_K1_VALIDATOR_SALT'],
      validatorAddress,
      [[], []],
    ),
    contract(ofNexus, ['Nexus', 'NEXUS_SALT'], implementationAddress, [
      parseAbiParameters('address, address, bytes'),
      [entryPoint07Address, validatorAddress, NOBODY],
    ]),
    contract(ofNexus, ['NexusBootstrap', 'NEXUSBOOTSTRAP_SALT'], mee.bootStrapAddress, [
      parseAbiParameters('address, bytes'),
      [validatorAddress, NOBODY],
    ]),
    contract(ofNexus, ['NexusAccountFactory', 'NEXUS_ACCOUNT_FACTORY_SALT'], mee.factoryAddress, [
      parseAbiParameters('address, address'),
      [implementationAddress, FACTORY_OWNER],
    ]),
  ]
}

/** Nexus 1.2.0 with MEE's K1 validator, as Biconomy's scripts create them, by Biconomy's client. */
export const nexus: PublishedFamily = {
  name: 'Nexus 1.2.0',
  checkouts: ['nexus', 'mee-contracts'],
  contracts,
  place: ({ rpcUrl }) => placePublished(rpcUrl, contracts()),
  kinds: (info) => [
    {
      name: 'Nexus 1.2.0, as published',
      version: '0.7',
      open: (seed) => {
        const transport = http(info().rpcUrl)
        const version = { ...mee }
        return toNexusAccount({
          signer: ownerOf(seed),
          chainConfiguration: { chain: foundry, transport, version, versionCheck: false },
        })
      },
    },
  ],
}
