// A number that knows which operation and which numbers it was made from.

struct value {
    double data;     // the number itself
    double gradient; // how much the result changes per change of this number
    char operation;  // '+', '*', 'r' for relu, or 0 for an input
    struct value *left, *right;
};

// Passes the gradient of v on to the values it was made from.
void backward_step(struct value *v)
{
    // TODO
}
