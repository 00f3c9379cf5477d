import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Address, Hex } from 'viem'
import { readCheckout } from './checkouts.js'
import {
  type Deployer,
  deterministicDeployer as deterministic,
  type PublishedContract,
  safeSingletonFactory as safeFactory,
} from './publishedContract.js'

const CONSTANTS = 'packages/permissionless-test/mock-aa-infra/alto/constants/accounts'

/** The bytes that `file` of the checkout publishes as `constant`: data of a creation transaction, mostly. */
function publishedBytes(file: string, constant: string): Hex {
  const path = `${CONSTANTS}/${file}.ts`
  const declaration = new RegExp(
    `export const ${constant}\\b[^=]*=\\s*["'\`](0x[0-9a-fA-F]+)["'\`]`,
  )
  const bytes = declaration.exec(readCheckout('permissionless.js', path))?.[1]
  if (bytes === undefined) throw new Error(`${path} has no ${constant}.`)
  return bytes as Hex
}

/** Biconomy's, by CREATE3. */
function biconomyFactory(): Deployer {
  return {
    address: '0x988C135a1049Ce61730724afD342fb7C56CD2776',
    code: publishedBytes('biconomy', 'BICONOMY_SINGLETON_FACTORY_BYTECODE'),
    commitsToCode: false,
  }
}

/** Contracts of `file`: the constants with the data of their creations, and where the client looks for them. */
function contracts(
  file: string,
  deployer: Deployer,
  at: Readonly<Record<string, Address | undefined>>,
): PublishedContract[] {
  return Object.entries(at).map(([name, address]) => ({
    name,
    address,
    client: address && clientSource(file),
    origin: { deployer, data: publishedBytes(file, name) },
  }))
}

export const KERNEL_2_FACTORY: Address = '0x5de4839a76cf55d0c90e2061ef4386d962E15ae3'
export const KERNEL_2_ACCOUNTS = {
  KERNEL_V06_ACCOUNT_V2_1_LOGIC_CREATECALL: '0xf048AD83CB2dfd6037A43902a2A5Be04e53cd2Eb',
  KERNEL_V06_ACCOUNT_V2_2_LOGIC_CREATECALL: '0x0DA6a956B9488eD4dd761E59f52FDc6c8068E6B5',
  KERNEL_V06_ACCOUNT_V2_3_LOGIC_CREATECALL: '0xD3F582F6B4814E989Ee8E96bc3175320B5A540ab',
  KERNEL_V06_ACCOUNT_V2_4_LOGIC_CREATECALL: '0xd3082872F8B06073A021b4602e022d5A070d7cfC',
} as const satisfies Record<string, Address>
export const KERNEL_3_META_FACTORY: Address = '0xd703aaE79538628d27099B8c4f621bE4CCd142d5'
export const KERNEL_3_FACTORIES = {
  KERNEL_V07_FACTORY_CREATECALL: '0x6723b44Abeec4E71eBE3232BD5B455805baDD22f',
  KERNEL_V07_V3_1_FACTORY_CREATECALL: '0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419',
  KERNEL_V07_V3_2_FACTORY_CREATECALL: '0x7a1dBAB750f12a90EB1B60D2Ae3aD17D4D81EfFe',
  KERNEL_V07_V3_3_FACTORY_CREATECALL: '0x2577507b78c2008Ff367261CB6285d44ba5eF2E9',
} as const satisfies Record<string, Address>
export const LIGHT_2_FACTORY: Address = '0x0000000000400CdFef5E2714E63d8040b700BC24'

const require = createRequire(import.meta.url)

/** The source of permissionless' client for the accounts of `file`, as npm installed it. */
function clientSource(file: string): string {
  const folder = join(dirname(require.resolve('permissionless/accounts')), file)
  const name = `${file[0]!.toUpperCase()}${file.slice(1)}`
  const main = readFileSync(join(folder, `to${name}SmartAccount.js`), 'utf8')
  return file === 'etherspot' ? main + readFileSync(join(folder, 'constants.js'), 'utf8') : main
}

/** In the order in which they can be created: constructors ask some of those before. */
export function permissionlessContracts(): readonly PublishedContract[] {
  const biconomy = biconomyFactory()
  return [
    ...contracts('kernel', deterministic, {
      KERNEL_V06_ECDSA_VALIDATOR_V2_2_CREATECALL: '0xd9AB5096a832b9ce79914329DAEE236f8Eea0390',
      ...KERNEL_2_ACCOUNTS,
      KERNEL_V06_FACTORY_CREATECALL: KERNEL_2_FACTORY,
      KERNEL_V07_ECDSA_VALIDATOR_V3_CREATECALL: '0x8104e3Ad430EA6d354d013A6789fDFc71E671c43',
      KERNEL_V07_V3_1_ECDSA_VALIDATOR_V3_CREATECALL: '0x845ADb2C711129d4f3966735eD98a9F09fC4cE57',
      KERNEL_V07_ACCOUNT_V3_LOGIC_CREATECALL: '0x94F097E1ebEB4ecA3AAE54cabb08905B239A7D27',
      KERNEL_V07_V3_1_ACCOUNT_V3_LOGIC_CREATECALL: '0xBAC849bB641841b44E965fB01A4Bf5F074f84b4D',
      KERNEL_V07_V3_2_ACCOUNT_V3_LOGIC_CREATECALL: '0xD830D15D3dc0C269F3dBAa0F3e8626d33CFdaBe1',
      KERNEL_V07_V3_3_ACCOUNT_V3_LOGIC_CREATECALL: '0xd6CEDDe84be40893d153Be9d467CD6aD37875b28',
      ...KERNEL_3_FACTORIES,
      KERNEL_V07_META_FACTORY_CREATECALL: KERNEL_3_META_FACTORY,
    }),
    ...contracts('light', deterministic, {
      LIGHT_ACCOUNT_FACTORY_V110_CREATECALL: '0x00004EC70002a32400f8ae005A26081065620D20',
      LIGHT_ACCOUNT_FACTORY_V200_CREATECALL: LIGHT_2_FACTORY,
    }),
    ...contracts('trust', deterministic, {
      TRUST_SECP256K1_VERIFICATION_FACET_CREATECALL: '0x81b9E3689390C7e74cF526594A105Dea21a8cdD5',
      TRUST_ACCOUNT_FACET_CREATE_CALL: undefined,
      TRUST_DIAMOND_CUT_FACET_CREATE_CALL: undefined,
      TRUST_TOKEN_RECEIVER_FACET_CREATE_CALL: undefined,
      TRUST_DIAMOND_LOUPE_FACET_CREATE_CALL: undefined,
      TRUST_DEFAULT_FALLBACK_HANDLER: undefined,
      TRUST_FACTORY_V06_CREATECALL: '0x729c310186a57833f622630a16d13f710b83272a',
    }),
    ...contracts('thirdweb', deterministic, {
      THIRDWEB_FACTORY_V06_CREATECALL: '0x85e23b94e7F5E9cC1fF78BCe78cfb15B81f0DF00',
      THIRDWEB_FACTORY_V07_CREATECALL: '0x4be0ddfebca9a5a4a617dee4dece99e7c862dceb',
    }),
    ...contracts('safe', deterministic, {
      SAFE_V06_MODULE_SETUP_CREATECALL: '0x8EcD4ec46D4D2a6B64fE960B3D64e8B94B2234eb',
      SAFE_V06_MODULE_CREATECALL: '0xa581c4A4DB7175302464fF3C06380BC3270b4037',
    }),
    ...contracts('safe', safeFactory, {
      SAFE_PROXY_FACTORY_CREATECALL: '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
      SAFE_SINGLETON_CREATECALL: '0x41675C099F32341bf84BFc5382aF534df5C7461a',
      SAFE_MULTI_SEND_CREATECALL: '0x38869bf66a61cF6bDB996A6aE40D5853Fd43B526',
      SAFE_MULTI_SEND_CALL_ONLY_CREATECALL: '0x9641d764fc13c8B624c04430C7356C1C7C8102e2',
    }),
    ...contracts('etherspot', deterministic, {
      ETHERSPOT_IMPLEMENTATION: undefined,
      ETHERSPOT_BOOTSTRAP_CREATECALL: '0x0D5154d7751b6e2fDaa06F0cC9B400549394C8AA',
      ETHERSPOT_MULTIPLE_OWNER_ECDSA_VALIDATOR_CREATECALL:
        '0x0740Ed7c11b9da33d9C80Bd76b826e4E90CC1906',
      ETHERSPOT_WALLET_FACTORY_CREATECALL: '0x2A40091f044e48DEB5C0FCbc442E443F3341B451',
    }),
    ...contracts('biconomy', biconomy, {
      BICONOMY_ECDSA_OWNERSHIP_REGISTRY_MODULE_CREATECALL:
        '0x0000001c5b32F37F5beA87BDD5374eB2aC54eA8e',
      BICONOMY_ACCOUNT_V2_LOGIC_CREATECALL: '0x0000002512019Dafb59528B82CB92D3c5D2423aC',
      BICONOMY_FACTORY_CREATECALL: '0x000000a56Aaca3e9a4C479ea6b6CD0DbcB6634F5',
    }),
    ...contracts('nexus', deterministic, { NEXUS_BOOTSTRAP_LIB_CREATECALL: undefined }),
    ...contracts('nexus', biconomy, {
      NEXUS_K1_VALIDATOR_CREATECALL: '0x00000004171351c442B202678c48D8AB5B321E8f',
      NEXUS_K1_VALIDATOR_FACTORY_CREATECALL: '0x00000bb19a3579F4D779215dEf97AFbd0e30DB55',
      NEXUS_ACCOUNT_IMPLEMENTATION_CREATECALL: undefined,
      NEXUS_ACCOUNT_BOOTSTRAPPER_CREATECALL: undefined,
    }),
  ]
}
