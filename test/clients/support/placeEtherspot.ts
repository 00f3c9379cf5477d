import type { Address } from 'viem'
import { entryPoint06Address } from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { devKey } from '../../../src/cli/devnet/devKeys.js'
import { compileSolidity } from '../../support/chain/compileSolidity.js'
import { accountsClient, constructAt } from './constructAt.js'
import { typechainCode } from './creationCode.js'
import { modelValidatorSource } from './modelValidator.js'

const prime = '@etherspot/prime-sdk/dist/sdk/contracts/factories/src/wallet'
const modular = '@etherspot/modular-sdk/dist/sdk/contracts/factories/src/ERC7579'

/** Where Etherspot's SDK expects the factory of its account for EntryPoint v0.6. */
export const ETHERSPOT_PRIME_FACTORY: Address = '0x7f6d8F107fE8551160BD5351d5F1514A6aD5d40E'
const PRIME_IMPLEMENTATION: Address = '0xe7709b97efb7fa03d9ef4cf2b1a4a3b3b6f1e001'

/** Etherspot's account for EntryPoint v0.6 ("Prime") and its factory. */
export async function placeEtherspotPrime(rpcUrl: string): Promise<void> {
  const client = accountsClient(rpcUrl)
  const owner = privateKeyToAccount(devKey(3))
  const factory = ETHERSPOT_PRIME_FACTORY
  const factoryCode = typechainCode(`${prime}/EtherspotWalletFactory__factory.js`)
  await constructAt(rpcUrl, factory, factoryCode, [owner.address])
  const code = typechainCode(`${prime}/EtherspotWallet__factory.js`)
  await constructAt(rpcUrl, PRIME_IMPLEMENTATION, code, [entryPoint06Address, factory])
  const hash = await client.writeContract({
    account: owner,
    chain: null,
    address: factory,
    abi: [
      {
        type: 'function',
        name: 'setImplementation',
        inputs: [{ type: 'address' }],
        outputs: [],
        stateMutability: 'nonpayable',
      },
    ],
    functionName: 'setImplementation',
    args: [PRIME_IMPLEMENTATION],
  })
  await client.waitForTransactionReceipt({ hash, pollingInterval: 20 })
}

/** Where Etherspot's modular SDK 1.0.1 expects its contracts. */
export const etherspotModular = {
  metaFactoryAddress: '0xf80D543Ca10B48AF07c65Ff508605c1737EFAF3F',
  bootstrapAddress: '0x1baCB2F1ef4fD02f02e32cCF70888D9Caeb5f066',
  validatorAddress: '0x609d3ED5F7D1707806327D198Cb480B93dD6E6b9',
} as const satisfies Record<string, Address>
/** The factory's code names it. */
const MODULAR_IMPLEMENTATION: Address = '0x202A5598bDba2cE62bFfA13EcccB04969719Fad9'

/**
 * Models of the bootstrap, which runs in the account and installs one validator and no executors, and of the
 * validator, which asks the account whether the signer of the operation's hash (EIP-191) is an owner.
 */
const models = `${modelValidatorSource}
struct Config { address module; bytes data; }
interface Module { function onInstall(bytes calldata data) external; }

contract ModelBootstrap {
    /** The lists of modules in the account's storage: validators, then executors. */
    uint256 constant LISTS = 0xf88ce1fdb7fb1cbd3282e49729100fa3f2d6ee9f797961fe4fb1871cea89ea02;

    function initMSA(Config[] calldata validators, Config[] calldata, Config calldata, Config[] calldata)
        external
    {
        address validator = validators[0].module;
        link(LISTS, address(1), validator);
        link(LISTS, validator, address(1));
        link(LISTS + 1, address(1), address(1));
        Module(validator).onInstall(validators[0].data);
    }
    function link(uint256 list, address from, address to) private {
        bytes32 slot = keccak256(abi.encode(from, list));
        assembly { sstore(slot, to) }
    }
}

interface Wallet { function isOwner(address owner) external view returns (bool); }

contract ModelOwnersValidator is ModelValidator {
    function onInstall(bytes calldata) public payable override {}
    function isOwner(address account, address signer) internal view override returns (bool) {
        return Wallet(account).isOwner(signer);
    }
}
`

/**
 * Etherspot's account for EntryPoint v0.7 (ERC-7579) and its factory, as the code that public chains have. The
 * package has no bootstrap, and a validator for another form of operations.
 */
export async function placeEtherspotModular(rpcUrl: string): Promise<void> {
  const client = accountsClient(rpcUrl)
  const code = (name: string) => typechainCode(`${modular}/${name}__factory.js`)
  const { metaFactoryAddress, bootstrapAddress, validatorAddress } = etherspotModular
  for (const [address, name] of [
    [MODULAR_IMPLEMENTATION, 'wallet/EtherspotWallet7579'],
    [metaFactoryAddress, 'wallet/EtherspotWallet7579Factory'],
  ] as const)
    await client.setCode({ address, bytecode: code(name) })
  const { ModelBootstrap, ModelOwnersValidator } = compileSolidity(models)
  await constructAt(rpcUrl, validatorAddress, ModelOwnersValidator!.bytecode)
  await constructAt(rpcUrl, bootstrapAddress, ModelBootstrap!.bytecode)
}
