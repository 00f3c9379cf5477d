// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

import {BaseTank} from "./BaseTank.sol";
import {ALL_GAS, IToken, tokenBalance, tryToken, tryTransfer, tryTransferFrom} from "./tokenCalls.sol";

/// The part of the EntryPoint's stake manager for paymasters that need a stake; the same everywhere.
interface IStakeKeeper {
    function addStake(uint32 unstakeDelay) external payable;
    function unlockStake() external;
    function withdrawStake(address payable to) external;
}

/// What a signer promises: the tank pays the gas of an operation for tokens at this rate.
struct Quote {
    uint8 mode;
    address token;
    /// Smallest units of the token for 1e18 wei.
    uint256 rate;
    /// Millionths of the rate: 1,000,000 takes nothing on top of the cost.
    uint32 markup;
    /// Gas that postOp may use; all of it is charged. On v0.7 and later that is its gas limit.
    uint32 postOpGas;
    /// Who gets the charge; the zero address is the tank itself.
    address treasury;
}

/// What validation hands to postOp.
struct Payment {
    bytes32 userOpHash;
    address sender;
    Quote quote;
    /// wei; no operation is charged for more.
    uint256 maxCost;
}

/// @title What the token tanks of all EntryPoint versions share
/// @notice A tank whose gas is paid for in an ERC-20 token, at a rate that a signer quoted. The tokens
/// stay in the tank, or go to the quote's treasury; the owner withdraws. There is no storage and no
/// price on chain.
/// @dev The data of every version:
/// mode(1) | token(20) | rate(32) | markup(4) | postOpGas(4) | treasury(20) | validUntil(6) | validAfter(6)
/// | signature(65), and in mode 2 the permit: value(32) | deadline(32) | r(32) | s(32) | v(1).
/// All but the signature itself is signed, with the whole operation: a quote has one userOpHash.
///
/// Mode 0 takes the most that the operation can cost during validation and gives the rest back in
/// postOp. Mode 1 only looks at the balance, and takes the charge in postOp: for approvals that the
/// operation itself makes; who spends the tokens in it escapes. Mode 2 is mode 0 after an EIP-2612
/// permit.
///
/// Every division rounds up and every cost is an upper bound of what the EntryPoint will take, so the
/// deposit never shrinks by more than the tokens are worth. Validation writes to the token and returns
/// a context: public bundlers want the tank staked (ERC-7562 EREP-050, STO-032).
abstract contract TokenTank is BaseTank {
    uint8 internal constant AFTERWARDS = 1;
    uint8 internal constant PERMIT = 2;

    /// The EntryPoint's PostOpMode.
    uint8 private constant OP_SUCCEEDED = 0;

    uint256 private constant SIGNED_AT = 81;
    uint256 private constant PERMIT_AT = SIGNED_AT + DATA_LENGTH;
    uint256 private constant PERMIT_LENGTH = 129;

    /// 1e18 wei of the rate times 1,000,000 of the markup.
    uint256 private constant RATE_UNIT = 1e24;

    /// Gas that the EntryPoint charges around postOp, on top of what postOp uses itself: encoding the
    /// context, the call, the clone.
    uint256 internal constant POST_OP_OVERHEAD = 4_000;

    /// Gas that postOp keeps from the token: for its event and its return, and for an attempt to pay
    /// the treasury after a refund has used all that was left.
    uint256 private constant POST_OP_RESERVE = 6_000;

    /// @notice `charged` units of the token were taken for `cost` wei.
    event TokensPaid(
        bytes32 indexed userOpHash,
        address indexed sender,
        address indexed token,
        uint256 charged,
        uint256 cost
    );

    /// @notice The tank paid `cost` wei and got nothing for it: the token refused `charge` units.
    event PaymentMissed(
        bytes32 indexed userOpHash,
        address indexed sender,
        address indexed token,
        uint256 charge,
        uint256 cost
    );

    /// The token refused the charge in mode 1, so the EntryPoint takes the operation back.
    error PaymentRefused(address sender, address token, uint256 charge);

    /// @notice Sends `amount` units of `token` to `to`. Owner only.
    function withdrawToken(address token, address to, uint256 amount) external {
        _requireOwner();
        require(tryTransfer(token, to, amount, ALL_GAS), "Tank: the token refused");
    }

    /// @notice Locks the ether sent along as stake, for at least `unstakeDelay` seconds after it is
    /// unlocked. Owner only.
    function addStake(uint32 unstakeDelay) external payable {
        _requireOwner();
        IStakeKeeper(entryPoint()).addStake{value: msg.value}(unstakeDelay);
    }

    /// @notice Begins the delay after which the stake can be withdrawn. Owner only.
    function unlockStake() external {
        _requireOwner();
        IStakeKeeper(entryPoint()).unlockStake();
    }

    /// @notice Withdraws the whole unlocked stake to `to`. Owner only.
    function withdrawStake(address payable to) external {
        _requireOwner();
        IStakeKeeper(entryPoint()).withdrawStake(to);
    }

    function _requireOwner() private view {
        require(msg.sender == owner(), "Tank: only the owner");
    }

    function _quoteIn(bytes calldata data) internal pure returns (Quote memory) {
        require(data.length > 0, "Tank: no token data");
        uint8 mode = uint8(data[0]);
        require(mode <= PERMIT, "Tank: unknown token mode");
        require(
            data.length == (mode == PERMIT ? PERMIT_AT + PERMIT_LENGTH : PERMIT_AT),
            "Tank: token data of another length"
        );
        return Quote({
            mode: mode,
            token: address(bytes20(data[1:21])),
            rate: uint256(bytes32(data[21:53])),
            markup: uint32(bytes4(data[53:57])),
            postOpGas: uint32(bytes4(data[57:61])),
            treasury: address(bytes20(data[61:SIGNED_AT]))
        });
    }

    /// @dev The end of the struct that is signed, from mode to permit.
    function _quoteWords(Quote memory quote, bytes calldata data) internal pure returns (bytes memory) {
        (uint48 validUntil, uint48 validAfter) = _times(data[SIGNED_AT:]);
        return abi.encode(quote, validUntil, validAfter, keccak256(data[PERMIT_AT:]));
    }

    /// @dev What validation answers. Takes the tokens no matter who signed: a simulation with a dummy
    /// signature then costs what the real one does, and the EntryPoint undoes it.
    function _accept(bytes32 structHash, bytes calldata data, Payment memory payment)
        internal
        returns (uint256 validationData)
    {
        Quote memory quote = payment.quote;
        validationData = _judge(structHash, data[SIGNED_AT:PERMIT_AT]);
        uint256 most = _charge(quote, payment.maxCost);
        if (quote.mode == AFTERWARDS) {
            require(
                tokenBalance(quote.token, payment.sender) >= most, "Tank: the sender has too few tokens"
            );
            return validationData;
        }
        if (quote.mode == PERMIT) _permit(quote.token, payment.sender, data[PERMIT_AT:]);
        uint256 before = tokenBalance(quote.token, address(this));
        require(
            tryTransferFrom(quote.token, payment.sender, address(this), most, ALL_GAS),
            "Tank: the token refused the prefund"
        );
        require(
            tokenBalance(quote.token, address(this)) >= before + most, "Tank: the token kept a part"
        );
    }

    /// @dev A permit that fails may have been used by somebody else before: only the allowance counts.
    function _permit(address token, address sender, bytes calldata permit) private {
        (uint256 value, uint256 deadline) = abi.decode(permit[0:64], (uint256, uint256));
        (bytes32 r, bytes32 s) = abi.decode(permit[64:128], (bytes32, bytes32));
        tryToken(
            token,
            abi.encodeCall(
                IToken.permit, (sender, address(this), value, deadline, uint8(permit[128]), r, s)
            ),
            ALL_GAS
        );
    }

    /// @dev postOp: settles for `cost` wei, or for the most that was quoted if that is less. `start` is
    /// the gas that was left when postOp began.
    function _settle(uint8 postOpMode, Payment memory payment, uint256 cost, uint256 start) internal {
        Quote memory quote = payment.quote;
        if (cost > payment.maxCost) cost = payment.maxCost;
        uint256 charge = _charge(quote, cost);
        if (quote.mode == AFTERWARDS) {
            address to = quote.treasury == address(0) ? address(this) : quote.treasury;
            if (!tryTransferFrom(quote.token, payment.sender, to, charge, _gasForToken(quote, start))) {
                // Taking the operation back is all that a refusal can be answered with, once.
                if (postOpMode == OP_SUCCEEDED) {
                    revert PaymentRefused(payment.sender, quote.token, charge);
                }
                emit PaymentMissed(payment.userOpHash, payment.sender, quote.token, charge, cost);
                return;
            }
        } else {
            uint256 most = _charge(quote, payment.maxCost);
            // Who cannot be given back the rest (a hook that reverts, a blocked address) leaves it here.
            bool refunded =
                tryTransfer(quote.token, payment.sender, most - charge, _gasForToken(quote, start));
            if (!refunded) charge = most;
            if (quote.treasury != address(0)) {
                tryTransfer(quote.token, quote.treasury, charge, _gasForToken(quote, start));
            }
        }
        emit TokensPaid(payment.userOpHash, payment.sender, quote.token, charge, cost);
    }

    /// @dev What is left of the gas that was quoted for postOp, less the reserve. Hooks of a token run as
    /// long as they like, at the tank's expense, so they are not let beyond it.
    function _gasForToken(Quote memory quote, uint256 start) private view returns (uint256) {
        uint256 left = gasleft();
        uint256 spent = start - left;
        uint256 quoted = quote.postOpGas > spent ? quote.postOpGas - spent : 0;
        if (quoted < left) left = quoted;
        return left > POST_OP_RESERVE ? left - POST_OP_RESERVE : 0;
    }

    /// @dev Units of the token for `cost` wei.
    function _charge(Quote memory quote, uint256 cost) internal pure returns (uint256) {
        uint256 scaled = cost * quote.rate * quote.markup;
        return scaled / RATE_UNIT + (scaled % RATE_UNIT == 0 ? 0 : 1);
    }
}
